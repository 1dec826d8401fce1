r"""NumPy's count of results decides in a loop.

Source: https://github.com/pytorch/pytorch/issues/119186
Finds: graph breaks at line 18
Cause: data-dependent|decides|NumPy
Cure: torch\.where|torch\.cond
Expects: breaks 0, graphs 1, recompiles 0
"""

import numpy as np

import torch


def model(x):
    for _ in range(2):
        hits = np.count_nonzero((x > 0).numpy())
        if hits == 1:
            return x
        x = x * 2
    return x + 1


inputs = (torch.randn(4, 8),)


# Cured
def model(x):
    first = torch.count_nonzero(x > 0) == 1
    second = torch.count_nonzero(x * 2 > 0) == 1
    return torch.where(first, x, torch.where(second, x * 2, x * 4 + 1))
