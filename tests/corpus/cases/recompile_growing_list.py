"""A model appends its features to a list of the module that nobody empties.

Source: https://github.com/pytorch/pytorch/issues/93724
Finds: recompiles or near the recompile limit
Cause: len(gth)?|list|append|grow
Cure: clear|empt|return|fixed|preallocat|tensor|outside
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Recorder(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        self.features = []

    def forward(self, x):
        x = self.proj(x)
        self.features.append(x.mean())
        return torch.relu(x)


model = Recorder()
calls = [(torch.randn(2, 4),) for _ in range(5)]


# Cured: the caller keeps the list
class Returning(nn.Module):
    def __init__(self, proj):
        super().__init__()
        self.proj = proj

    def forward(self, x):
        return torch.relu(self.proj(x))


model = Returning(model.proj)
