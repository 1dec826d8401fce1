"""A method that is decorated as a context manager has no `yield`.

Source: https://github.com/pytorch/pytorch/issues/156716
Run: --backend eager --fullgraph
Finds: no context manager
Cause: contextmanager
Cure: Remove the decorator
Expects: graphs 1, results other
"""

import contextlib

import torch


class Net(torch.nn.Module):
    @contextlib.contextmanager
    def forward(self, rows):
        return rows * 2


model = Net()
inputs = (torch.randn(4),)

# Cured


def model(rows):
    return rows * 2
