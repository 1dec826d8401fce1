"""The same tensor is passed twice in one call.

Source: https://github.com/pytorch/pytorch/issues/111562
Finds: recompiles
Cause: same|alias|duplicate
Cure: clone|copy
Expects: recompiles 0
"""

import torch


def model(x, y):
    return x + y


x = torch.randn(3)
calls = [(x, torch.randn(3)), (x, x)]


# Cured
calls = [(x, torch.zeros(3) + 1), (x, x.clone())]
torch.manual_seed(0)
x = torch.randn(3)
calls = [(x, torch.randn(3)), (x, x.clone())]
