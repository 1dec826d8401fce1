r"""Projections of a transformer in bfloat16 are chained with sums, which are rounded at other places.

Source: https://github.com/pytorch/pytorch/issues/179575
Finds: rounds otherwise
Cause: round|precision|bfloat16
Cure: emulate_precision_casts|float32|\.float\(\)
Expects: graphs 1
Run: --backend inductor
Lacks: detected, explained, cured
"""

import torch


def model(x, weight):
    y = torch.einsum("btd,de->bte", x, weight)
    return ((y * 1.7 + x) * 0.3 + y.square() - x * 0.9) * 3 - x


torch.manual_seed(0)
inputs = (torch.randn(2, 64, 16).bfloat16(), torch.randn(16, 16).bfloat16())

# Cured
torch_compile = {"options": {"emulate_precision_casts": True}}
