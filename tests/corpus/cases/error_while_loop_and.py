r"""`and` of tensors in the condition of `while_loop` raises.

Source: https://github.com/pytorch/pytorch/issues/177517
Finds: not compiled: failed at line 15
Cause: while_loop|need a bool|and
Cure: torch\.logical_and
Expects: breaks 0, graphs 1
Not: aot_eager
"""

import torch


def go_on(left, x):
    return left > 0 and x.abs().max() < 9


def step(left, x):
    return left - 1, x * 2


def model(x):
    return torch.while_loop(go_on, step, (torch.tensor(5), x))[1]


inputs = (torch.randn(4, 8),)


# Cured
def go_on(left, x):
    return torch.logical_and(left > 0, x.abs().max() < 9)
