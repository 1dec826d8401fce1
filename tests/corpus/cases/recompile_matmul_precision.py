"""A model sets the precision of matrix products for its own part, and so does another one.

Source: https://github.com/facebookresearch/fairchem/pull/2108
Finds: recompiles
Cause: precision|global state|tf32|GLOBAL_STATE
Cure: once|before|beginning|same|outside|not change|keep|start
Expects: recompiles 0
"""

import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, 32), nn.Linear(32, 1)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x))).sum()


model = Energy().eval()
x = torch.randn(10, 8)


def calls():
    for precision in ("highest", "high", "medium", "highest"):
        torch.set_float32_matmul_precision(precision)
        yield (x,)


# Cured
torch.set_float32_matmul_precision("high")
calls = [(x,)] * 4
