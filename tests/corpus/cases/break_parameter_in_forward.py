"""A parameter is made in forward.

Source: https://github.com/pytorch/pytorch/issues/157452
Finds: graph breaks at line 14
Cause: Parameter
Cure: before|once|module level|graph_break_on_nn_param_ctor
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    scale = torch.nn.Parameter(torch.ones(8))
    return x * scale


inputs = (torch.randn(4, 8),)
