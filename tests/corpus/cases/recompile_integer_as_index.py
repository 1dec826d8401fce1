"""An integer argument is an index, another one in each call.

Source: https://github.com/pytorch/pytorch/issues/114293
Finds: recompiles
Cause: start
Cure: dynamic
Expects: recompiles 0
"""

import torch


def model(x, start):
    return x[start].clone() + x[start + 1]


x = torch.randn(100, 4)
calls = [(x, start) for start in range(6)]
