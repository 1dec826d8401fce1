"""A float argument has another value in each call.

Source: https://github.com/pytorch/pytorch/issues/149406
Finds: recompiles
Cause: scale
Cure: tensor|dynamic
Expects: recompiles 0
"""

import torch


def model(x, scale):
    return x * scale


x = torch.randn(4, 8)
calls = [(x, 1.5 + step) for step in range(5)]
