"""A tensor is copied by Python's `copy`.

Source: https://github.com/pytorch/pytorch/issues/107570
Finds: graph breaks at line 17
Cause: copy
Cure: clone
Expects: breaks 0
"""

import copy

import torch


def model(x):
    y = x.sin()
    z = copy.copy(y)
    return z.relu()


inputs = (torch.randn(1, 2),)


# Cured
def model(x):
    y = x.sin()
    z = y.clone()
    return z.relu()
