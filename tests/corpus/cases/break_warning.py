"""`warnings.warn` within the model breaks the graph.

Source: https://github.com/pytorch/pytorch/issues/135688
Finds: graph breaks at line 17
Cause: warn
Cure: reorderable_logging_functions|is_compiling
Expects: breaks 0, graphs 1
"""

import warnings

import torch


def model(x):
    x = x.sin()
    warnings.warn("values are small", stacklevel=1)
    return x.cos()


inputs = (torch.randn(4, 8),)


# Cured
torch._dynamo.config.reorderable_logging_functions.add(warnings.warn)
