"""A branch of torch.cond returns its own input.

Source: https://github.com/pytorch/pytorch/issues/141259
Finds: not compiled: failed
Cause: aliasing
Cure: clone
Expects: graphs 1
"""

import torch


def kept(rows):
    return rows


def zeros(rows):
    return torch.zeros_like(rows)


def model(rows):
    return torch.cond(rows.sum() > 0, kept, zeros, (rows,))


inputs = (torch.ones(4),)

# Cured


def kept(rows):
    return rows.clone()
