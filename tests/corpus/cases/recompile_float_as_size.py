"""A ratio gives the size of a slice, and changes in each call.

Source: https://github.com/pytorch/pytorch/issues/197889
Finds: recompiles
Cause: ratio
Cure: dynamic
Expects: recompiles 0
"""

import torch


def model(x, ratio):
    return x[: int(x.shape[0] * ratio)].sum(0)


x = torch.randn(16, 4)
calls = [(x, 0.25 * step) for step in (1, 2, 3, 4)]
