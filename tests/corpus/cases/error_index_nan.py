"""Inductor fails on a softmax of numbers that are none.

Source: https://github.com/pytorch/pytorch/issues/188225
Run: --backend inductor
Finds: not compiled: failed
Cause: Inductor
Cure: aot_eager
Expects: skipped 0
"""

import torch


def model():
    ones = torch.ones(2, 2)
    return torch.atan2(ones, ones).log2().arccosh().softmax(1)


inputs = ()

# Cured
torch_compile = {"backend": "aot_eager"}
