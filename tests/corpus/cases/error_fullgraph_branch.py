r"""The whole function shall be a graph, but it branches by a sum.

Source: https://discuss.pytorch.org/t/graph-breaks-or-no-graph-breaks-in-torchdynamo/181208
Finds: graph breaks or not compiled: failed
Cause: branch|sum|data.dependent|value of a tensor
Cure: torch\.where|torch\.cond
Expects: graphs 1, breaks 0
Run: --backend eager --fullgraph
"""

import torch


def model(a, b):
    x = a / (a.abs() + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


inputs = (torch.linspace(-1, 1, 10), torch.linspace(-2, 1, 10))

# Cured


def model(a, b):
    x = a / (a.abs() + 1)
    b = torch.where(b.sum() < 0, b * -1, b)
    return x * b
