"""Evaluation under `no_grad` is a second compilation: two are right.

Source: https://github.com/pytorch/pytorch/issues/100977
Finds: recompiles
Cause: grad_mode|grad mode|gradient|no_grad
Cure: two compilations are expected
Expects: recompiles 1
"""

import torch

layer = torch.nn.Linear(4, 4)


def model(x):
    return layer(x).relu()


x = torch.randn(3, 4)


def calls():
    for grad in (True, False, True, False):
        torch.set_grad_enabled(grad)
        yield (x,)
    torch.set_grad_enabled(True)


# Cured: nothing to do
