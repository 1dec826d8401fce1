"""The code calls a function of a C library, which Dynamo cannot trace.

Source: https://github.com/pytorch/pytorch/pull/127301
Finds: graph breaks at line 18
Cause: C library|C function|_FuncPtr
Cure: torch.library.custom_op
Expects: breaks 0, graphs 1
"""

import ctypes

import torch

absolute = ctypes.CDLL(None).labs


def model(rows, number):
    return rows * absolute(number)


inputs = (torch.ones(4), -3)

# Cured


@torch.library.custom_op("corpus::absolute", mutates_args=())
def absolute_op(number: int) -> torch.Tensor:
    return torch.tensor(absolute(number))


@absolute_op.register_fake
def _(number):
    return torch.empty((), dtype=torch.int64)


def model(rows, number):
    return rows * absolute_op(number)
