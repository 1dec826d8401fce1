r"""The rows to add come as a generator, which is an argument.

Source: https://github.com/pytorch/pytorch/issues/93737
Finds: graph breaks or not compiled: given up or not compiled: skipped
Cause: generator
Cure: list|tuple
Expects: breaks 0, skipped 0
"""

import torch


def model(parts):
    return sum(part * 2 for part in parts) + 1


def calls():
    for number in range(2):
        yield ((torch.ones(3) * number + row for row in range(3)),)


# Cured


def calls():
    for number in range(2):
        yield ([torch.ones(3) * number + row for row in range(3)],)
