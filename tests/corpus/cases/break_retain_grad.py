"""The gradient of an input that isn't a leaf is retained.

Source: https://github.com/pytorch/pytorch/issues/146212
Finds: graph breaks at line 15
Cause: retain_grad
Cure: outside|before|remove
Expects: breaks 0
"""

import torch


def model(x):
    y = x.cos()
    y.retain_grad()
    return y.sin()


inputs = (torch.ones(4, requires_grad=True),)


# Cured
def model(x):
    return x.cos().sin()
