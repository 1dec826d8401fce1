"""A new lambda is passed in each call.

Source: https://github.com/pytorch/pytorch/pull/113533
Finds: recompiles
Cause: activation|function|object
Cure: once|before|module level
Expects: recompiles 0
"""

import torch


def model(x, activation):
    return activation(x) + 1


x = torch.randn(4)


def calls():
    for step in range(4):
        yield (x, eval("lambda x: x.relu()"))


# Cured
once = eval("lambda x: x.relu()")
calls = [(x, once)] * 4
