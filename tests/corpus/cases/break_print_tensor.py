"""A `print` of a tensor's mean breaks the graph.

Source: https://github.com/pytorch/pytorch/issues/110886
Finds: graph breaks at line 15
Cause: print
Cure: reorderable_logging_functions|print
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    x = x.relu()
    print("mean", x.mean())
    return x.sin()


inputs = (torch.randn(4, 8),)
