"""A branch of `torch.cond` calls `nonzero`.

Source: https://github.com/pytorch/pytorch/issues/156724
Run: --script
Finds: not compiled: failed
Cause: nonzero|dynamic|depends|higher order
Cure: capture_dynamic_output_shape_ops|count_nonzero|mask|where|sum
Expects: skipped 0
"""

import torch


def positions(rows):
    return rows.nonzero().float().sum()


def total(rows):
    return rows.sum()


@torch.compile(backend="eager")
def summed(rows):
    return torch.cond(rows.sum() > 0, positions, total, (rows,))


print(summed(torch.tensor([0.0, 2.0, 3.0])))

# Cured
import torch


def positions(rows):
    return ((rows != 0) * torch.arange(rows.shape[0])).float().sum()


def total(rows):
    return rows.sum()


@torch.compile(backend="eager")
def summed(rows):
    return torch.cond(rows.sum() > 0, positions, total, (rows,))


print(summed(torch.tensor([0.0, 2.0, 3.0])))
