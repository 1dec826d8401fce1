"""Rows are added at index -1, which eager mode refuses and the compiled code does not.

Source: https://github.com/pytorch/pytorch/issues/185885
Finds: raised in eager or results differ
Cause: index|out of bounds|eager
Cure: index|negative|remainder|%|where|clamp
Expects: graphs 1, results other
Run: --backend inductor
"""

import torch


def model(x, index, rows):
    return torch.index_add(x, 0, index, rows)


inputs = (torch.zeros(4, 3), torch.tensor([0, -1]), torch.ones(2, 3))

# Cured


def model(x, index, rows):
    return torch.index_add(x, 0, index % x.shape[0], rows)
