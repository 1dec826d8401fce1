"""A break within a context manager that cannot resume leaves the function to eager.

Source: https://github.com/pytorch/pytorch/pull/147494
Finds: graph breaks at line 28
Cause: context manager|with
Cure: context manager|[Rr]emove
Expects: breaks 0, graphs 1
"""

import contextlib

import torch

entered = []


class Recorded:
    def __enter__(self):
        entered.append(1)

    def __exit__(self, *error):
        entered.append(-1)


def model(x):
    with Recorded():
        y = x.sin()
        torch._dynamo.graph_break()
        y = y.cos()
    return y


inputs = (torch.randn(4, 8),)
