"""A number of Python's `random.random` is added.

Source: https://github.com/pytorch/pytorch/issues/145446
Finds: graph breaks at line 16 or random numbers
Cause: random
Cure: torch.rand|uniform|outside|argument|before
Expects: breaks 0
"""

import random

import torch


def model(x):
    return x.sin() + random.random()


inputs = (torch.ones(5, 5),)


# Cured
def model(x, shift):
    return x.sin() + shift


seeded = random.Random(0)
inputs = (torch.ones(5, 5), torch.tensor(seeded.random()))
