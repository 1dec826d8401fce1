"""Arguments are bound to a signature in the compiled function.

Source: https://github.com/pytorch/pytorch/issues/147162
"""

import inspect

import torch


def scaled(x, factor, power=2):
    return x


signature = inspect.signature(scaled)


def model(x):
    bound = signature.bind(x, 3)
    return torch.sin(x) * bound.arguments["factor"]


inputs = (torch.randn(4, 8),)
