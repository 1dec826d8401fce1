"""`torch.unique_consecutive` has as many results as the data has runs.

Source: https://github.com/pytorch/pytorch/issues/113118
Finds: graph breaks at line 14
Cause: dynamic shape|unique_consecutive
Cure: capture_dynamic_output_shape_ops
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    values, counts = torch.unique_consecutive(x, return_counts=True)
    return (values * counts).sum() + x


inputs = (torch.tensor([1, 1, 2, 2, 3]),)
