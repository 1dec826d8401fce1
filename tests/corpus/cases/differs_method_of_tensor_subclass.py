"""A method of a tensor subclass changes its constant in a compiled function.

Source: https://github.com/pytorch/pytorch/issues/128149
Finds: results differ
Cause: (?i)subclass|add_constant|attribute|mutat|side effect
Cure: (?i)outside|argument|function|before|immutable|return|eager|disable
Expects: graphs 1, breaks 0
Run: --backend aot_eager
Lacks: explained
"""

import torch
import torch.utils._pytree as pytree
from torch.utils._python_dispatch import return_and_correct_aliasing


class Constant(torch.Tensor):
    @staticmethod
    def __new__(cls, elem, constant=4):
        return torch.Tensor._make_wrapper_subclass(cls, elem.shape, dtype=elem.dtype, device=elem.device)

    def __init__(self, elem, constant=4):
        self.elem = elem
        self.constant = constant

    def __repr__(self):
        return f"Constant({self.elem})"

    def __tensor_flatten__(self):
        return ["elem"], self.constant

    @staticmethod
    def __tensor_unflatten__(tensors, constant, size, stride):
        return Constant(tensors["elem"], constant)

    def add_constant(self, value):
        self.constant += value

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        plain = pytree.tree_map_only(Constant, lambda x: x.elem, args)
        out = function(*plain, **(kwargs or {}))
        out = pytree.tree_map_only(torch.Tensor, lambda x: Constant(x), out)
        return return_and_correct_aliasing(function, args, kwargs or {}, out)


def model(x):
    x.add_constant(2)
    return x.elem * x.constant


inputs = (Constant(torch.ones(3)),)

# Cured


def model(x):
    return x.elem * (x.constant + 2)
