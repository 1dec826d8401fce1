r"""A pipeline of stages keeps the position of the stage whose turn it is.

Source: https://github.com/pytorch/pytorch/pull/186472
Finds: recompiles
Cause: _pos|position|attribute|index|integer|int
Cure: argument|\bpass|loop|outside|call.*stage|directly|tensor
Expects: recompiles 0
Lacks: cured
"""

import torch
from torch import nn


class Stages(nn.Module):
    def __init__(self, dim=8, stages=4):
        super().__init__()
        self.stages = nn.ModuleList(nn.Linear(dim, dim) for _ in range(stages))
        self._pos = 0

    def forward(self, x):
        x = torch.relu(self.stages[self._pos](x))
        self._pos = (self._pos + 1) % len(self.stages)
        return x


model = Stages().eval()
calls = [(torch.ones(2, 8),)] * 5


# Cured
class Stages(nn.Module):
    def __init__(self, dim=8, stages=4):
        super().__init__()
        self.stages = nn.ModuleList(nn.Linear(dim, dim) for _ in range(stages))

    def forward(self, x, position):
        weight = torch.stack([stage.weight for stage in self.stages]).index_select(0, position)[0]
        bias = torch.stack([stage.bias for stage in self.stages]).index_select(0, position)[0]
        return torch.relu(nn.functional.linear(x, weight, bias))


torch.manual_seed(0)
model = Stages().eval()
calls = [(torch.ones(2, 8), torch.tensor([step % 4])) for step in range(5)]
