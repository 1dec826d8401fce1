"""A module counts its calls.

Source: https://github.com/pytorch/pytorch/issues/115711
Finds: recompiles
Cause: done
Cure: allow_unspec_int_on_nn_module|tensor|buffer
Expects: recompiles 1
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.done = 0

    def forward(self, x):
        self.done += 1
        return self.layer(x)


model = Net()
x = torch.randn(3, 4)
calls = [(x,)] * 5
