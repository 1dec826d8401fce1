"""Pairs of features come from torch.combinations, which selects by a mask.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0036.html
Finds: graph breaks at line 15
Cause: combinations|masked_select|shape depends|output shape
Cure: triu_indices|capture_dynamic_output_shape_ops|index
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    y = x.tanh()
    pairs = torch.combinations(y)
    return pairs.prod(-1).sum()


inputs = (torch.randn(6),)

# Cured


def model(x):
    y = x.tanh()
    rows, columns = torch.triu_indices(6, 6, 1)
    return (y[rows] * y[columns]).sum()
