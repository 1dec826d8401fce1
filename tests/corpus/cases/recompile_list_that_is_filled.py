"""A module appends to its list in each forward.

Source: https://github.com/meta-pytorch/torchtune/pull/1663
Finds: recompiles
Cause: seen|len
Cure: outside
Expects: recompiles 0
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append(x.sum())
        return x + 1


model = Net()
x = torch.randn(4)
calls = [(x,)] * 4


# Cured
class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1


model = Net()
