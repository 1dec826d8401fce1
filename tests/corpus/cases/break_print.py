"""A `print` of a shape breaks the graph.

Source: https://github.com/pytorch/torchdynamo/issues/943
Finds: graph breaks at line 15
Cause: print
Cure: print
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    x = x * 2
    print("after scaling", x.shape)
    return x.sin()


inputs = (torch.randn(4, 8),)
