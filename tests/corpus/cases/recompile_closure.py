"""A function argument closes over another number in each call.

Source: https://github.com/pytorch/pytorch/issues/172382
Finds: recompiles
Cause: closure
Cure: dynamic=True|tensor
Expects: recompiles 0
"""

import torch


def shifted(by):
    def shift(rows):
        return rows + by

    return shift


def model(function, rows):
    return function(rows)


calls = [(shifted(by), torch.ones(3)) for by in (0.5, 1.5, 2.5, 3.5)]

# Cured


calls = [(shifted(torch.tensor(by)), torch.ones(3)) for by in (0.5, 1.5, 2.5, 3.5)]
