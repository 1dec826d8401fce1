"""A cached helper reads a setting that changes after its first call.

Source: https://github.com/pytorch/pytorch/pull/156463
Finds: results differ
Cause: lru_cache|cache
Cure: without (the )?cache|argument|remove|cache_clear|outside|pass|drop
Expects: graphs 1, breaks 0, results other
"""

import functools

import torch

settings = {"scale": 2.0}


@functools.lru_cache
def scale():
    return settings["scale"]


scale()
settings["scale"] = 3.0


def model(x):
    return x.sin() * scale()


inputs = (torch.ones(3),)


# Cured: the number is an argument
def model(x, factor):
    return x.sin() * factor


inputs = (torch.ones(3), torch.tensor(scale()))
