"""A scale is a number of NumPy, another one in each call.

Source: https://github.com/pytorch/pytorch/issues/149405
"""

import numpy as np
import torch


def model(rows, scale):
    return rows.cos() * scale


calls = [(torch.ones(8), np.float32(scale)) for scale in (1, 2, 3)]
