"""A module multiplies by the number of its calls.

Source: https://github.com/pytorch/pytorch/pull/154867
Finds: recompiles
Cause: done
Cure: allow_unspec_int_on_nn_module|tensor|buffer
Expects: recompiles 1
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.done = 0

    def forward(self, x):
        self.done += 1
        return x * self.done


model = Net()
x = torch.randn(3, 4)
calls = [(x,)] * 5
