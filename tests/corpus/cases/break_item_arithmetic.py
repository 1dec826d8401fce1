r"""A number from `.item()` is only used in arithmetic.

Source: https://github.com/isayevlab/aimnetcentral/pull/109
Finds: graph breaks at line 14
Cause: item
Cure: keep|capture_scalar_outputs|without `\.item|0-d tensor
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    scale = x.abs().mean().item()
    return x / scale


inputs = (torch.randn(4, 8),)
