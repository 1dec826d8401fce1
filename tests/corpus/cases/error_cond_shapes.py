"""The branches of torch.cond return tensors of other shapes.

Source: https://github.com/pytorch/pytorch/issues/156724
Finds: branches of other shapes
Cause: expected same dim
Cure: same shape
Expects: graphs 1, results other
"""

import torch


def many(rows):
    return rows * 2


def single(rows):
    return rows.mean()


def model(rows):
    return torch.cond(rows.sum() > 0, many, single, (rows,))


inputs = (torch.ones(4),)

# Cured


def single(rows):
    return rows.mean().expand(4).clone()
