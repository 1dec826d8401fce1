"""A cached helper depends on its arguments only.

Source: https://github.com/pytorch/pytorch/issues/157598
"""

import functools

import torch

BASE = 100.0


@functools.lru_cache
def frequency(place):
    table = {}
    table[place] = BASE**-place
    return table[place]


def model(x):
    return x * frequency(0.5)


calls = [(torch.randn(3),) for _ in range(3)]
