"""A layer is dropped by Python's random number.

Source: https://github.com/pytorch/pytorch/issues/95425
Finds: graph breaks at line 19
Cause: random
Cure: before.*pass it as a tensor
Expects: breaks 0
"""

import random

import torch

layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))


def model(x):
    for layer in layers:
        if random.random() > 0.5:
            x = layer(x)
    return x


inputs = (torch.randn(4, 8),)


# Cured
def model(x, kept):
    for layer, keep in zip(layers, kept, strict=True):
        x = torch.where(keep, layer(x), x)
    return x


random.seed(0)
inputs = (*inputs, [torch.tensor(random.random() > 0.5) for _ in layers])
