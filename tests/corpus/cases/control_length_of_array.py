"""A compiled NumPy function divides by the length of its array.

Source: https://github.com/pytorch/pytorch/issues/105054
"""

import numpy as np
import torch


def average(x):
    return np.sum(x) / len(x)


def model(x):
    return torch.from_numpy(np.asarray(average(x.numpy()))) + x


inputs = (torch.randn(4),)
