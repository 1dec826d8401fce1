"""A layer asks whether its activations are in shared memory.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0208.html
Finds: graph breaks at line 15
Cause: is_shared|non-Tensor
Cure: outside|before|once|__init__|remove|argument
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    y = x.tanh()
    if y.is_shared():
        y = y.clone()
    return y * 2


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    y = x.tanh()
    return y * 2
