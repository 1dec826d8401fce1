r"""Each call brings a new autocast object of the same settings.

Source: https://github.com/pytorch/pytorch/pull/194754
Finds: recompiles or near the recompile limit
Cause: autocast|identity|\bid\b|new (object|instance)|another object|other object
Cure: once|same (object|instance)|reuse|one object|outside|inside
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x, precision):
        with precision:
            return self.proj(x).float()


model = Block()
x = torch.randn(4, 8)
calls = [(x, torch.autocast("cpu", dtype=torch.bfloat16)) for _ in range(4)]

# Cured: one object
precision = torch.autocast("cpu", dtype=torch.bfloat16)
calls = [(x, precision) for _ in range(4)]
