r"""`fullgraph=True` turns a number from `.item()` into an error.

Source: https://github.com/pytorch/pytorch/issues/196198
Finds: not compiled: failed at line 15
Cause: tensor's value
Cure: torch\.where|torch\.cond
Expects: breaks 0, graphs 1
Run: --backend eager --fullgraph
"""

import torch


def model(x):
    if x.sum().item() > 0:
        return x.sin()
    return x.cos()


inputs = (torch.randn(4, 8),)


# Cured
def model(x):
    return torch.where(x.sum() > 0, x.sin(), x.cos())
