"""A layer is frozen and thawed while training.

Source: https://github.com/pytorch/pytorch/issues/139476
Finds: recompiles
Cause: requires.grad|gradient
Cure: two compilations are expected
Expects: recompiles 1
"""

import torch

net = torch.nn.Linear(8, 8)


def model(x):
    return net(x).relu()


x = torch.randn(4, 8)


def calls():
    for frozen in (False, True, False, True):
        net.requires_grad_(not frozen)
        yield (x,)
    net.requires_grad_(True)


# Cured: nothing to do
