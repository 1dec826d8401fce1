"""`masked_select` has as many results as the data says.

Source: https://github.com/pytorch/pytorch/issues/165421
Finds: graph breaks at line 14
Cause: dynamic shape|masked_select
Cure: capture_dynamic_output_shape_ops
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    return x.masked_select(x.ge(0.5)).mean()


inputs = (torch.randn(4, 8),)
