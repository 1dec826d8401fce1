r"""A boolean mask selects a number of elements that depends on data.

Source: https://github.com/pytorch/pytorch/issues/114220
Finds: graph breaks at line 14
Cause: dynamic shape|depends on (?:input )?(?:Tensor )?data|nonzero
Cure: capture_dynamic_output_shape_ops|torch\.where
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    chosen = x[x > 0.5]
    return chosen.sum() + x


inputs = (torch.randn(4, 8),)
