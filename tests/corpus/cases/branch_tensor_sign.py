r"""An `if` on a tensor's value breaks the graph.

Source: https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
Finds: graph breaks at line 15
Cause: data-dependent|tensor's value
Cure: torch\.where
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
