"""A global number changes between the calls.

Source: https://github.com/pytorch/pytorch/issues/146598
Finds: recompiles
Cause: scale
Cure: tensor|argument|pass
Expects: recompiles 0
Run: --backend aot_eager
"""

import torch

scale = 1.0


def model(x):
    return x * scale


x = torch.randn(4)


def calls():
    global scale
    for step in range(4):
        scale = 1.0 + step
        yield (x,)
