r"""A script changes a setting that a cached helper has read already.

Source: https://github.com/pytorch/pytorch/pull/153744
Finds: results may differ
Cause: cache
Cure: argument|without (the )?cache|leave the cache out
Expects: graphs 2, breaks 0, results other
Run: --script
"""

import functools

import torch

temperature = 2.0


@functools.cache
def scale(heads):
    return temperature / heads


@torch.compile(backend="eager")
def score(q):
    return q * scale(4)


q = torch.ones(3)
first = score(q)
temperature = 5.0
second = score(q)


def confirmed():
    return scale(4) == 1.25


# Cured
import torch

temperature = 2.0


def scale(heads, temperature):
    return temperature / heads


@torch.compile(backend="eager")
def score(q, temperature):
    return q * scale(4, temperature)


q = torch.ones(3)
first = score(q, 2.0)
second = score(q, 5.0)


def confirmed():
    return scale(4, 5.0) == 1.25 and torch.equal(second, q * 1.25)
