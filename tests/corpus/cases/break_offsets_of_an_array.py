"""Offsets are made with NumPy and read back as a list.

Source: https://github.com/pytorch/pytorch/issues/111370
Finds: graph breaks at line 16
Cause: tolist|item|data.dependent
Cure: list|tuple|range|constant|capture_scalar_outputs|outside
Expects: breaks 0, graphs 1
"""

import numpy as np
import torch


def model(x):
    y = x * 2
    first, second = np.array([1, 3]).tolist()
    return y[:, first] + y[:, second]


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    y = x * 2
    first, second = [1, 3]
    return y[:, first] + y[:, second]
