"""Warnings are filtered in the compiled function.

Source: https://github.com/pytorch/pytorch/issues/102339
Finds: graph breaks
Cause: warnings|context
Cure: outside|around the call|move
Expects: breaks 0
"""

import warnings

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(10, 10)

    def forward(self, x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.layer(x)


model = Net()
inputs = (torch.randn(10, 10),)


# Cured
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(10, 10)

    def forward(self, x):
        return self.layer(x)


torch.manual_seed(0)
model = Net()
