"""A function branches on whether its argument is a named tuple.

Source: https://github.com/pytorch/pytorch/issues/124402
"""

import collections

import torch

Pair = collections.namedtuple("Pair", ["first", "second"])


def model(pair):
    if isinstance(pair, tuple) and hasattr(pair, "_asdict") and hasattr(pair, "_fields"):
        return torch.sin(pair.first) * pair.second
    return torch.cos(pair[0]) * pair[1]


inputs = (Pair(torch.ones(4), torch.randn(4)),)
