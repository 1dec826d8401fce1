"""A row that does not exist is selected, in eager mode too.

Source: https://github.com/pytorch/pytorch/issues/121251
Finds: raised in eager
Cause: index|out of (range|bounds)|eager
Cure: index|range|clamp|eager|itself
Expects: graphs 1, results other
Run: --backend inductor
"""

import torch


def model(x, index):
    return torch.index_select(x, 0, index) * 2


inputs = (torch.ones(2, 3), torch.tensor([2]))

# Cured


def model(x, index):
    return torch.index_select(x, 0, index.clamp(max=x.shape[0] - 1)) * 2
