"""Rows are doubled in place through an index.

Source: https://github.com/pytorch/pytorch/issues/138908
Run: --backend inductor
"""

import torch


def model(shifted, table):
    index = shifted + 10
    table[index] += table[index]
    return table.sum()


inputs = (torch.full((1, 2), -10), torch.arange(8.0).reshape(2, 4))
