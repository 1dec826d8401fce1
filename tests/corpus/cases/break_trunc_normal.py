"""A weight is initialized within the compiled function.

Source: https://github.com/pytorch/pytorch/issues/194768
Finds: graph breaks at line 14
Cause: trunc_normal_|warn|initial
Cure: before|outside|out of|once
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    weight = torch.nn.init.trunc_normal_(torch.empty(8), std=0.1)
    return x + weight.mean() * 0


inputs = (torch.randn(4, 8),)


# Cured
weight = torch.nn.init.trunc_normal_(torch.empty(8), std=0.1)


def model(x):
    return x + weight.mean() * 0
