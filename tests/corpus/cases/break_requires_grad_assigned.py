"""`y.requires_grad = True` within the compiled function.

Source: https://github.com/pytorch/pytorch/issues/109505
Finds: graph breaks at line 15
Cause: requires_grad
Cure: outside|before|after
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    y = x * 2
    y.requires_grad = True
    return y


inputs = (torch.randn(4, 8),)


# Cured
def model(x):
    return x * 2
