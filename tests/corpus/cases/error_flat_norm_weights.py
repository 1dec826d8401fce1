r"""The norms of a weight are a vector, which only the eager operator takes.

Source: https://github.com/pytorch/pytorch/issues/191137
Finds: not compiled: failed or graph breaks
Cause: _weight_norm_interface|broadcast|shape
Cure: parametrizations|reshape|unsqueeze|_weight_norm\b
Expects: graphs 1
Lacks: cured
"""

import torch


def model(direction, length):
    return torch.ops.aten._weight_norm_interface(direction, length, 0)[0]


inputs = (torch.randn(8, 4), torch.ones(8))

# Cured


def model(direction, length):
    return torch.ops.aten._weight_norm_interface(direction, length[:, None], 0)[0]
