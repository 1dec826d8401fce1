"""A loss computes the overlap of those boxes that do overlap.

Source: https://github.com/pytorch/vision/pull/9518
Finds: graph breaks at line 18
Cause: mask|bool|nonzero|dynamic
Cure: where|clamp|capture_dynamic_output_shape_ops
Expects: breaks 0
"""

import torch


def model(left, right):
    low = torch.max(left[:, 0], right[:, 0])
    high = torch.min(left[:, 1], right[:, 1])
    mask = high > low
    overlap = torch.zeros_like(low)
    overlap[mask] = high[mask] - low[mask]
    return overlap.sum()


inputs = (torch.tensor([[0.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 3.0], [5.0, 6.0]]))


# Cured
def model(left, right):
    low = torch.max(left[:, 0], right[:, 0])
    high = torch.min(left[:, 1], right[:, 1])
    return (high - low).clamp(min=0).sum()
