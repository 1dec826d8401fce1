"""A standard deviation is stored, and its input is divided in place.

Source: https://github.com/pytorch/pytorch/issues/132597
Finds: needed tensor changed in place
Cause: in.?place
Cure: out of place|detach|x /
Expects: breaks 0
Run: --backend aot_eager
"""

import torch


def model(x):
    y = x * 2
    spread = y.std(-1, keepdim=True)
    y /= spread
    return y, spread


inputs = (torch.randn(2, 3, requires_grad=True),)


# Cured
def model(x):
    y = x * 2
    spread = y.std(-1, keepdim=True)
    return y / spread, spread
