"""`int()` of a tensor's values gives sizes of a box.

Source: https://github.com/pytorch/pytorch/issues/93457
Finds: graph breaks at line 14
Cause: int|item|scalar
Cure: capture_scalar_outputs|keep
Expects: breaks 0, graphs 1
"""

import torch


def model(x, box):
    width = int(box[2] - box[0])
    return x * width


inputs = (torch.randn(4, 8), torch.tensor([1, 1, 4, 5]))
