r"""The output of a ReLU is changed in place before the backward.

Source: https://github.com/pytorch/torchdynamo/issues/1962
Finds: needed tensor changed in place
Cause: in.?place
Cure: out.of.place|clone|without|not in place|instead of|mul\(|new tensor
Expects: graphs 1, breaks 0, results other
Run: --backend aot_eager --training
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        x = torch.relu(self.proj(x))
        x += 1
        return x * 2


model = Block()
inputs = (torch.randn(3, 4),)


# Cured
class Fresh(Block):
    def forward(self, x):
        x = torch.relu(self.proj(x))
        x = x + 1
        return x * 2


model = Fresh()
