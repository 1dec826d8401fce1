"""A buffer is moved to shared memory in each call.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0117.html
Finds: graph breaks at line 15
Cause: share_memory
Cure: outside|before|once|__init__|remove
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    y = x.tanh()
    y.share_memory_()
    return y * 2


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    y = x.tanh()
    return y * 2
