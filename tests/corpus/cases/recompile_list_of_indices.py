r"""A list of row numbers is compiled for each of its numbers and lengths.

Source: https://github.com/pytorch/pytorch/issues/114293
Finds: recompiles
Cause: changed length|number of the list
Cure: pass one tensor
Expects: graphs 2, breaks 0, recompiles 1
"""

import torch


def model(x, rows):
    kept = x.clone()
    for row in rows:
        kept[row] = 0
    return kept


calls = [(torch.ones(9), [2, 4]), (torch.ones(9), [2, 4, 5]), (torch.ones(9), [2, 4, 5, 7])]

# Cured


def model(x, rows):
    kept = x.clone()
    kept[rows] = 0
    return kept


calls = [(torch.ones(9), torch.tensor(rows)) for rows in ([2, 4], [2, 4, 5], [2, 4, 5, 7])]
