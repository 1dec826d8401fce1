"""A forgotten `graph_break()` is in a helper.

Source: https://github.com/pytorch/pytorch/issues/126722
Finds: graph breaks at line 15
Cause: graph_break
Cure: [Rr]emove
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x.cos()


inputs = (torch.randn(4, 8),)
