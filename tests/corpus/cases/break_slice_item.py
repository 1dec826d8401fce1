"""A slice ends at a number from `.item()`.

Source: https://github.com/pytorch/pytorch/issues/131911
Finds: graph breaks at line 14
Cause: item
Cure: capture_scalar_outputs
Expects: breaks 0, graphs 1
"""

import torch


def model(x, length):
    end = length.item()
    return x[:end].sum(0)


inputs = (torch.randn(6, 8), torch.tensor(3))
