r"""The product of two float arguments is computed in Python.

Source: https://github.com/pytorch/pytorch/issues/171320
Finds: recompiles
Cause: rate
Cure: torch\.tensor
Expects: recompiles 0
Run: --backend aot_eager
"""

import torch


def model(x, rate, decay):
    return x * (rate * decay)


x = torch.randn(4, 8)
calls = [(x, 0.01 * step, 0.9) for step in range(1, 7)]
