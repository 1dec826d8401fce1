"""A helper indexes with a boolean mask.

Source: https://github.com/pytorch/pytorch/issues/99609
Finds: graph breaks at line 14
Cause: mask|bool|nonzero|dynamic
Cure: capture_dynamic_output_shape_ops|where
Expects: breaks 0
"""

import torch


def chosen(values, mask):
    return values[mask]


def model(values, numbers):
    return chosen(values.sin(), numbers < 1) * 2


inputs = (torch.rand(2, 2, 3), torch.tensor([0, 1]))


# Cured
torch._dynamo.config.capture_dynamic_output_shape_ops = True
