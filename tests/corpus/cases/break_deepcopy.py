"""`copy.deepcopy` of a tensor within forward.

Source: https://github.com/pytorch/pytorch/issues/115122
Finds: graph breaks at line 16
Cause: deepcopy
Cure: clone
Expects: breaks 0, graphs 1
"""

import copy

import torch


def model(x):
    kept = copy.deepcopy(x)
    return x.relu() + kept


inputs = (torch.randn(4, 8),)
