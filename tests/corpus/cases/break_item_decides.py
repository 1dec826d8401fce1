r"""A number from `.item()` decides an `if`.

Source: https://github.com/pytorch/pytorch/issues/158642
Finds: graph breaks at line 16
Cause: item|decides
Cure: torch\.where
Expects: breaks 0, graphs 1
Not: capture_scalar_outputs = True
"""

import torch


def model(x):
    x = x * 2
    if x.abs().max().item() > 3:
        x = x / 3
    return x + 1


inputs = (torch.randn(4, 8),)
