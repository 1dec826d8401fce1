"""A hook on a tensor within the compiled function.

Source: https://github.com/pytorch/pytorch/issues/141046
Run: --backend aot_eager
"""

import functools

import torch


def shifted(grad, by):
    return grad + by


def model(rows):
    doubled = rows * 2
    doubled.register_hook(functools.partial(shifted, by=3))
    return doubled.sin().sum()


inputs = (torch.ones(4, requires_grad=True),)
training = True
