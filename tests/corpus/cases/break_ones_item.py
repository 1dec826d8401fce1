"""A new tensor has a size from `.item()`.

Source: https://github.com/pytorch/pytorch/issues/117461
Finds: graph breaks at line 14
Cause: item
Cure: capture_scalar_outputs
Expects: breaks 0, graphs 1
"""

import torch


def model(x, length):
    extra = torch.ones(length.item(), 8)
    return torch.cat([x, extra])


inputs = (torch.randn(6, 8), torch.tensor(3))
