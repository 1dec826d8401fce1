"""`torch.bincount` has as many results as the largest value.

Source: https://github.com/pytorch/pytorch/issues/89628
Finds: graph breaks at line 14
Cause: dynamic shape|bincount
Cure: capture_dynamic_output_shape_ops|minlength
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    return torch.bincount(x).sum() + x


inputs = (torch.arange(10) % 4,)
