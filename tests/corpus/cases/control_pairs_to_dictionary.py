"""A dictionary is made of a list of pairs.

Source: https://github.com/pytorch/pytorch/issues/93152
"""

import torch


def model(x):
    values = dict([("a", x + 1), ("b", x * 2)])
    return values["a"] * values["b"]


inputs = (torch.randn(3),)
