r"""A function that is compiled as one graph makes an object, whose method runs without gradients.

Source: https://github.com/pytorch/pytorch/issues/194763
Run: --backend eager --fullgraph
Finds: graph breaks or not compiled: failed
Cause: no_grad|method|sourceless
Cure: no_grad|outside|before the call|function
Expects: graphs 1
"""

import torch


class Normal:
    def __init__(self, mean):
        self.mean = mean

    @torch.no_grad()
    def shifted(self, rows):
        return rows - self.mean


def model(rows):
    return Normal(rows.mean()).shifted(rows) * 2


inputs = (torch.arange(4.0),)

# Cured


class Traced:
    def __init__(self, mean):
        self.mean = mean

    def shifted(self, rows):
        with torch.no_grad():
            return rows - self.mean


def model(rows):
    return Traced(rows.mean()).shifted(rows) * 2
