"""Locals have annotations of generic types.

Source: https://github.com/pytorch/pytorch/issues/107232
"""

import torch


def model(x):
    parts: list[torch.Tensor] = [x * 2, x + 1]
    names: dict[str, int] = {"first": 0}
    return parts[names["first"]] * parts[1]


inputs = (torch.randn(4, 8),)
