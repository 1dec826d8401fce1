"""A function turns its input where the sum of another is negative.

Source: https://github.com/pytorch/pytorch/issues/101255
Finds: graph breaks at line 15
Cause: branch|data
Cure: where|torch.cond
Expects: breaks 0, graphs 1
"""

import torch


def model(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


calls = [(torch.ones(10), torch.ones(10)), (torch.ones(10), -torch.ones(10))]


# Cured
def model(a, b):
    x = a / (torch.abs(a) + 1)
    b = torch.where(b.sum() < 0, b * -1, b)
    return x * b
