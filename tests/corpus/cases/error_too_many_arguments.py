"""A call has an argument too many, which is an error without the compiler too.

Source: https://docs.pytorch.org/docs/2.12/user_guide/torch_compiler/compile/programming_model.common_graph_breaks.html
Finds: raised in eager
Cause: argument|eager|sin
Cure: argument|eager|itself|without
Expects: graphs 1, results other
"""

import torch


def model(x):
    y = torch.sin(x, x)
    return y + 1


inputs = (torch.ones(3, 3),)

# Cured


def model(x):
    y = torch.sin(x)
    return y + 1
