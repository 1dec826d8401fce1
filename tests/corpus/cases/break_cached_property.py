r"""A table is a cached property, which takes a lock when it is first read.

Source: https://github.com/pytorch/pytorch/issues/149929
Finds: graph breaks
Cause: lock|cached_property
Cure: once before|__init__
Expects: breaks 0, skipped 0
"""

import functools

import torch


class Positions(torch.nn.Module):
    @functools.cached_property
    def table(self):
        return torch.arange(3.0)

    def forward(self, rows):
        return rows * self.table


model = Positions()
inputs = (torch.ones(3),)


# Cured
class Prepared(Positions):
    def __init__(self):
        super().__init__()
        self.table = torch.arange(3.0)


model = Prepared()
