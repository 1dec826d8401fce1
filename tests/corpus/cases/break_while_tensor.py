"""A `while` loop ends by a tensor's value.

Source: https://github.com/pytorch/pytorch/issues/93579
Finds: graph breaks at line 15
Cause: data-dependent|decides
Cure: while_loop
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    x = x.abs() + 0.1
    while x.sum() < 100:
        x = x * 2
    return x


inputs = (torch.randn(4, 8),)


# Cured
def go_on(x):
    return x.sum() < 100


def body(x):
    return (x * 2,)


def model(x):
    return torch.while_loop(go_on, body, (x.abs() + 0.1,))[0]
