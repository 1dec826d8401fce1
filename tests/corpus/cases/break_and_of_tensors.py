r"""`and` of two tensors decides.

Source: https://github.com/pytorch/pytorch/issues/140394
Finds: graph breaks at line 14
Cause: data-dependent|decides
Cure: torch\.where|logical_and
Expects: breaks 0, graphs 1
"""

import torch


def model(x, low, high):
    if (x >= low).all() and (x <= high).all():
        return x
    return x.clamp(low, high)


inputs = (torch.randn(4, 8), torch.tensor(-1.0), torch.tensor(1.0))


# Cured
def model(x, low, high):
    inside = torch.logical_and((x >= low).all(), (x <= high).all())
    return torch.where(inside, x, x.clamp(low, high))
