"""A dictionary of tensors has the id of a request as its key.

Source: https://github.com/pytorch/pytorch/issues/151122
Finds: recompiles
Cause: parts|dict|key
Cure: list|values|same keys|outside
Expects: recompiles 0
"""

import torch


def model(parts):
    total = 0
    for value in parts.values():
        total = total + value * 100
    return total


calls = [({number: torch.ones(3)},) for number in (10, 20, 30, 40)]


# Cured
def model(parts):
    total = 0
    for value in parts:
        total = total + value * 100
    return total


calls = [([torch.ones(3)],) for number in (10, 20, 30, 40)]
