"""The code calls a function with lru_cache, which Dynamo traces without the cache.

Source: https://github.com/pytorch/pytorch/pull/153744
Finds: results differ
Cause: lru_cache
Cure: before the compiled function
Expects: recompiles 1, results other
"""

import functools

import torch

step = 0


@functools.lru_cache
def first_step():
    return step


def model(rows):
    return rows + first_step()


def calls():
    global step
    for step in range(3):
        yield (torch.ones(4),)


# Cured


def model(rows, first):
    return rows + first


def calls():
    global step
    for step in range(3):
        yield (torch.ones(4), first_step())


def confirmed():
    again = torch.compile(model, backend="eager")
    return bool((again(torch.ones(4), first_step()) == 1).all())
