"""Python's random number within the code breaks the graph, and each number is compiled.

Source: https://github.com/pytorch/pytorch/issues/197101
Finds: graph breaks at line 16
Cause: belongs to Python
Cure: before or after the compiled function
Expects: graphs 1, breaks 0, recompiles 0
"""

import random

import torch


def model(rows):
    return rows * random.random()


calls = [(torch.zeros(4),)] * 3

# Cured


def model(rows):
    return rows * number


number = torch.tensor(random.random())
