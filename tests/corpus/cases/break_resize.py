"""An input is resized in place.

Source: https://github.com/pytorch/pytorch/issues/97921
Finds: graph breaks at line 15
Cause: resize_
Cure: reshape|view|out of place|without
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    y = x.clone()
    y.resize_(2, 16)
    return y + 1


inputs = (torch.randn(4, 8),)


# Cured
def model(x):
    return x.clone().reshape(2, 16) + 1
