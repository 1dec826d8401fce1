r"""The first call takes a branch that can't be compiled, and later calls stay eager.

Source: https://github.com/pytorch/pytorch/pull/186003
Finds: graph breaks or nothing compiled or not compiled: skipped
Cause: (?i)print|\bloop
Cure: (?i)remove|outside|separate|move|first
Expects: graphs 2, breaks 0
"""

import torch


def model(x, verbose):
    if verbose:
        for value in range(2):
            print("value", value)
            x = x + value
        return x
    return torch.sin(x) * 2


x = torch.randn(8)
calls = [(x, True), (x, False), (x, False)]
inputs = calls[0]

# Cured


def model(x, verbose):
    if verbose:
        for value in range(2):
            x = x + value
        return x
    return torch.sin(x) * 2
