"""Activation checkpointing within the compiled function.

Source: https://github.com/pytorch/pytorch/issues/121966
Run: --backend aot_eager
"""

import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(4, 8), torch.nn.Linear(8, 4)

    def forward(self, rows):
        return checkpoint(lambda part: self.down(self.up(part).relu()), rows, use_reentrant=False).sum()


model = Net()
inputs = (torch.ones(2, 4),)
training = True
