r"""`math.exp` needs the value of a tensor as a Python number.

Source: https://github.com/pytorch/pytorch/issues/111652
Finds: graph breaks at line 16
Cause: item|number|float|scalar
Cure: torch\.exp
Expects: breaks 0, graphs 1
"""

import math

import torch


def model(x):
    return x * math.exp(-x.abs().sum())


inputs = (torch.randn(4, 8),)
