"""Adapters of other ranks are put into a compiled layer.

Source: https://github.com/Comfy-Org/ComfyUI/issues/9289
Finds: recompiles
Cause: size|parameter|down|up
Cure: same rank|pad|force_parameter_static_shapes|rank|dynamic
Expects: recompiles 0
"""

import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.fit(4)

    def fit(self, rank):
        self.down = nn.Parameter(torch.ones(rank, 8) / 8)
        self.up = nn.Parameter(torch.ones(8, rank))

    def forward(self, x):
        return x + x @ self.down.T @ self.up.T


model = Adapted()


def calls():
    for rank in (4, 8, 16):
        model.fit(rank)
        yield (torch.ones(2, 8),)


# Cured


class Padded(Adapted):
    def fit(self, rank):
        self.down = nn.Parameter(torch.cat([torch.ones(rank, 8) / 8, torch.zeros(16 - rank, 8)]))
        self.up = nn.Parameter(torch.cat([torch.ones(8, rank), torch.zeros(8, 16 - rank)], 1))


model = Padded()
