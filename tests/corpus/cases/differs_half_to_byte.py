r"""Shades in half precision are multiplied and cast to bytes, which makes a difference of rounding a whole step.

Source: https://github.com/pytorch/pytorch/pull/196794
Run: --backend inductor
Finds: rounds otherwise
Cause: rounds
Cure: emulate_precision_casts
Expects: graphs 1
"""

import torch


def model(shades):
    return (shades * 100).to(torch.uint8)


inputs = (torch.tensor([1.0, 2.0, 3.0, -0.5, 2.7]).half(),)

# Cured
torch_compile = {"options": {"emulate_precision_casts": True}}
