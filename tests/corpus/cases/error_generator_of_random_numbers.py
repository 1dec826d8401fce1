r"""A generator of Python is made with a random seed in compiled code.

Source: https://github.com/pytorch/pytorch/pull/133725
Finds: not compiled: failed or raised at run time or graph breaks or random numbers
Cause: (?i)random|seed
Cure: (?i)outside|torch\.(rand|Generator)|pass|before
Expects: graphs 1, breaks 0, results other
Lacks: explained
"""

import random

import torch


def model(x):
    seed = random.randint(0, 100)
    generator = random.Random(seed)
    return x + generator.randrange(10)


inputs = (torch.ones(4),)

# Cured


def model(x):
    return x + torch.randint(0, 10, ())
