"""A context manager is made before a break and entered after it.

Source: https://github.com/pytorch/pytorch/issues/124900
Finds: graph breaks
Cause: graph_break|explicit
Cure: remove
Expects: breaks 0
"""

import torch


def model(x):
    context = torch.set_grad_enabled(True)
    torch._dynamo.graph_break()
    with context:
        x = x + 1
    return x


inputs = (torch.ones(3),)


# Cured
def model(x):
    return x + 1
