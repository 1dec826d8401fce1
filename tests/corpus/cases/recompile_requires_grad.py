"""An input requires grad in some calls.

Source: https://github.com/pytorch/pytorch/issues/131975
Finds: recompiles
Cause: requires.grad|gradient
Cure: two compilations are expected
Expects: recompiles 1
"""

import torch


def model(x, y):
    return (x + y).clip(0)


x = torch.randn(4, 8)
calls = [(x, x * 2), (x.clone().requires_grad_(), x * 2)]


# Cured: nothing to do
