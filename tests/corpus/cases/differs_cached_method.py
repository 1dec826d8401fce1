"""A cached method is called.

Source: https://github.com/pytorch/pytorch/issues/155841
Finds: results differ
Cause: cache
Cure: cache|outside
Expects: breaks 0
"""

import functools

import torch


class Counter:
    def __init__(self, value):
        self.value = value

    @functools.lru_cache
    def increase(self, by):
        self.value += by


def model(x):
    counter = Counter(4)
    counter.increase(3)
    counter.increase(3)
    return x + counter.value


inputs = (torch.ones(2),)


# Cured
def model(x):
    return x + 7
