"""Two branches are started with torch.jit.fork, as for TorchScript.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0007.html
Finds: graph breaks or not compiled: given up
Cause: fork
Cure: call|remove|without|direct
Expects: breaks 0, graphs 1
"""

import torch


def left(x):
    return x.sin()


def model(x):
    y = x * 2
    future = torch.jit.fork(left, y)
    right = y.cos()
    return torch.jit.wait(future) + right


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    y = x * 2
    return left(y) + y.cos()
