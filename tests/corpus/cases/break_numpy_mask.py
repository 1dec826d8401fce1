"""NumPy code indexes with a boolean mask.

Source: https://github.com/pytorch/pytorch/issues/105266
Finds: graph breaks at line 16
Cause: mask|bool|nonzero|dynamic
Cure: capture_dynamic_output_shape_ops|where
Expects: breaks 0
"""

import numpy as np
import torch


def model(numbers, mask):
    doubled = numbers * 2
    return doubled[mask] + 1


inputs = (np.arange(12), np.arange(12) % 2 == 0)


# Cured
torch._dynamo.config.capture_dynamic_output_shape_ops = True
