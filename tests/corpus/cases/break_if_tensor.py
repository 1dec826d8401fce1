r"""An `if` on the sum of a tensor breaks the graph.

Source: https://github.com/pytorch/pytorch/issues/98533
Finds: graph breaks at line 15
Cause: data-dependent
Cure: torch\.where|torch\.cond
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    y = x.sum()
    if y > 0:
        z = x + y
    else:
        z = x - y
    return z


inputs = (torch.randn(4, 8),)
