"""`one_hot` without `num_classes` reads the largest value.

Source: https://github.com/pytorch/pytorch/issues/122171
Finds: graph breaks at line 14
Cause: one_hot|data
Cure: num_classes
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    return torch.nn.functional.one_hot(x).float().mean(0)


inputs = (torch.arange(10) % 4,)


# Cured
def model(x):
    return torch.nn.functional.one_hot(x, num_classes=4).float().mean(0)
