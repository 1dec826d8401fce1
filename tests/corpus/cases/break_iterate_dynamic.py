"""A loop goes over the rows that a mask selects.

Source: https://github.com/pytorch/pytorch/issues/151997
Finds: graph breaks at line 14
Cause: [Dd]ynamic shape
Cure: capture_dynamic_output_shape_ops
Expects: breaks 0, graphs 1
"""

import torch


def model(x, wanted):
    rows = x[wanted]
    return rows.sum(0) + x.mean(0)


inputs = (torch.randn(6, 8), torch.tensor([True, False, True, True, False, False]))
