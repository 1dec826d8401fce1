"""An input that is not used has other sizes.

Source: https://github.com/pytorch/pytorch/issues/131893
Finds: recompiles
Cause: size
Cure: dynamic
Expects: recompiles 1
"""

import torch

torch_compile = {"dynamic": False}


def model(x, y):
    z = y
    return x * 2 if z is not None else x


x = torch.randn(3)
calls = [(x, torch.randn(4)), (x, torch.randn(6)), (x, torch.randn(8))]


# Cured
torch_compile = {"dynamic": None}
