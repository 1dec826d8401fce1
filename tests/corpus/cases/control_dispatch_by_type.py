"""A helper chooses its version by the type of its argument.

Source: https://github.com/pytorch/pytorch/pull/147494
"""

import functools

import torch


@functools.singledispatch
def prepared(value):
    return torch.tensor(value)


@prepared.register
def _(value: torch.Tensor):
    return value * 2


def model(rows):
    return prepared(rows) + 1


inputs = (torch.ones(2),)
