r"""random.shuffle in compiled code gives one order in every call.

Source: https://github.com/pytorch/pytorch/issues/197085
Finds: graph breaks at line 17
Cause: random\.shuffle
Cure: before the compiled function
Expects: graphs 1, breaks 0, recompiles 0, results other
"""

import random

import torch


def model(rows):
    order = [0, 1, 2, 3, 4, 5, 6, 7]
    random.shuffle(order)
    return torch.stack([rows[index] for index in order])


calls = [(torch.arange(8.0),)] * 3

# Cured


def model(rows, order):
    return rows[order]


def calls():
    for _ in range(3):
        order = [0, 1, 2, 3, 4, 5, 6, 7]
        random.shuffle(order)
        yield (torch.arange(8.0), torch.tensor(order))
