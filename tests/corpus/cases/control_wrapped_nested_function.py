"""A nested function is wrapped with `functools.wraps`, in one graph.

Source: https://github.com/pytorch/pytorch/issues/103913
"""

import functools

import torch


def model(x, y):
    def add(x, y):
        return x + y

    @functools.wraps(add)
    def wrapped(x, y):
        return add(x, y)

    return wrapped(x, y) * 2


inputs = (torch.ones(4), torch.ones(4))
