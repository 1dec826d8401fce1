"""A first call with a sequence of length 1 has its own code.

Source: https://github.com/pytorch/pytorch/issues/141589
Finds: recompiles
Cause: size
Cure: size 1|specializes size|pad
Expects: recompiles 1
"""

import torch


def model(x):
    return x.relu().mean(0)


calls = [(torch.randn(64, 8),), (torch.randn(1, 8),), (torch.randn(66, 8),), (torch.randn(68, 8),)]
