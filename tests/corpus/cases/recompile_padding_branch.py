"""Batches of less than 16 rows are padded.

Source: https://github.com/pytorch/pytorch/issues/149635
Finds: recompiles
Cause: 16|size|shape|branch
Cure: max|outside|always|before|pad
Expects: recompiles 1
"""

import torch


def model(rows):
    count = rows.shape[0]
    if count < 16:
        rows = torch.nn.functional.pad(rows, (0, 0, 0, 16 - count))
    return rows.cumsum(0).sum(0)


calls = [(torch.ones(count, 3),) for count in (12, 14, 20, 24, 13)]


# Cured
def model(rows):
    missing = torch.sym_max(16 - rows.shape[0], 0)
    return torch.nn.functional.pad(rows, (0, 0, 0, missing)).cumsum(0).sum(0)
