"""A loss is looked up by its name in globals().

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html
Finds: graph breaks at line 19
Cause: globals
Cure: dict|getattr|outside|argument
Expects: breaks 0, graphs 1
"""

import torch


def smooth(x):
    return torch.nn.functional.softplus(x)


def model(x):
    y = x - x.mean()
    loss = globals()["smooth"]
    return loss(y)


inputs = (torch.randn(4, 8),)

# Cured
LOSSES = {"smooth": smooth}


def model(x):
    y = x - x.mean()
    return LOSSES["smooth"](y)
