"""Keyword arguments, the same in each call.

Source: https://docs.pytorch.org/docs/stable/generated/torch.compile.html
"""

import torch


def model(x, *, scale):
    return x * scale


inputs = {"x": torch.randn(4, 8), "scale": torch.tensor(2.0)}
