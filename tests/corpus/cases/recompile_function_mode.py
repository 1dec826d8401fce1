r"""The same function is called with and without a mode of torch functions.

Source: https://github.com/pytorch/pytorch/issues/144787
Finds: recompiles
Cause: \bmodes?\b|torch.function
Cure: \bmodes?\b|states
Expects: recompiles 0
Run: --script
"""

import torch
from torch.overrides import TorchFunctionMode


class Counting(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@torch.compile(backend="eager")
def matmul(x, y):
    return x @ y


x = torch.ones(4, 4)
print(matmul(x, x).sum().item())
with Counting():
    print(matmul(x, x).sum().item())
print(matmul(x, x).sum().item())


# Cured
import torch
from torch.overrides import TorchFunctionMode


class Counting(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@torch.compile(backend="eager")
def matmul(x, y):
    return x @ y


x = torch.ones(4, 4)
for _ in range(3):
    with Counting():
        made = matmul(x, x)
    print(made.sum().item())
