r"""`or` and `not` of tensors decide.

Source: https://github.com/pytorch/torchdynamo/issues/1883
Finds: graph breaks at line 14
Cause: decides|data-dependent
Cure: torch\.where
Expects: breaks 0, graphs 1
"""

import torch


def model(x, low, high):
    if (x < low).any() or not (x > high).all():
        x = x + 55
    return x * 2


inputs = (torch.randn(4, 8), torch.tensor(-1.0), torch.tensor(1.0))


# Cured
def model(x, low, high):
    outside = torch.logical_or((x < low).any(), torch.logical_not((x > high).all()))
    return torch.where(outside, x + 55, x) * 2
