"""Ten closed issues of PyTorch about Inductor on the CPU: each with its bug planted again, or still there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

URL = "https://github.com/pytorch/pytorch/issues/"


@dataclass(frozen=True, slots=True)
class ClosedIssue:
    """An issue by its number: a model that has its bug, what the bug does, and the first torch without it."""

    number: int
    title: str
    outcome: Literal["wrong", "raises", "crashes"]
    code: str
    fixed_in: str | None = None


ISSUES = (
    ClosedIssue(
        93824,
        "reciprocal_ on a clone",
        "wrong",
        """import torch
from torch._inductor import lowering
lowering.lowerings[torch.ops.aten.reciprocal.default] = lowering.lowerings[torch.ops.aten.neg.default]
def model(x):
    y = x.clone()
    y.reciprocal_()
    return y * 2
inputs = (torch.rand(8) + 1,)
""",
    ),
    ClosedIssue(
        96484,
        "C++ compile error after a negative pad",
        "raises",
        """import torch
import torch._inductor.codegen.cpp as cpp
combined = cpp.reduction_combine
def broken(reduction_type, var, next_value, *rest, **named):
    if reduction_type == "min":
        return f"min_propagate_nan_of({var}, {next_value})"
    return combined(reduction_type, var, next_value, *rest, **named)
cpp.reduction_combine = broken
def model(a, b):
    a = torch.nn.functional.pad(a, (0, -1))
    return (a + b).min(0).values
inputs = (torch.rand(64), torch.rand(63))
""",
    ),
    ClosedIssue(
        108963,
        "index_add ignores alpha",
        "wrong",
        """import torch
def without_alpha(graph):
    for node in list(graph.nodes):
        if node.target is torch.ops.aten.mul.Tensor and node.args[1] == 2.0:
            node.replace_all_uses_with(node.args[0])
torch._inductor.config.post_grad_custom_post_pass = without_alpha
def model(index, source):
    out = torch.zeros(1, dtype=torch.double).index_add(0, index, source, alpha=2.0) / 2
    return source, out
inputs = (torch.tensor([0]), torch.rand(1, dtype=torch.double))
""",
    ),
    ClosedIssue(
        113143,
        "multiplication of uint8",
        "wrong",
        """import torch
def without_casts(graph):
    for node in list(graph.nodes):
        if node.target is torch.ops.prims.convert_element_type.default and node.args[1] == torch.uint8:
            node.args = (node.args[0], torch.int8)
torch._inductor.config.post_grad_custom_post_pass = without_casts
def model(x, y):
    return (x.to(torch.uint8) * y.to(torch.uint8)).to(torch.int64) + x
inputs = (torch.randint(-300, 300, (14,)), torch.randint(-300, 300, (14,)))
""",
    ),
    ClosedIssue(
        128161,
        "lowering of torch.full with a symbolic value",
        "raises",
        """import torch
from torch._inductor import lowering
full = lowering.lowerings[torch.ops.aten.full.default]
def lowered(size, value, **named):
    if not isinstance(value, (int, float)):
        raise AssertionError(f"unexpected type {type(value)}")
    return full(size, value, **named)
lowering.lowerings[torch.ops.aten.full.default] = lowered
torch_compile = {"dynamic": True}
def model(x, n):
    return torch.full((1,), n * 2, dtype=torch.float32) + x
inputs = (torch.ones(1), 1024)
""",
    ),
    ClosedIssue(
        138908,
        "y[x] += y[x] adds twice",
        "wrong",
        """import torch
def accumulates(graph):
    for node in graph.nodes:
        if node.target in (torch.ops.aten.index_put.default, torch.ops.aten.index_put_.default):
            node.args = (*node.args[:3], True)
torch._inductor.config.post_grad_custom_post_pass = accumulates
def model(x, y):
    x = x + 10
    y[x] += y[x]
    return y.sin()
inputs = (torch.randint(-10, -9, (1, 2)), torch.randn(2, 32))
""",
    ),
    ClosedIssue(
        143555,
        "shift by 64 bits",
        "wrong",
        """import torch
from torch._inductor.codegen.cpp import CppOverrides, CppVecOverrides
CppOverrides.bitwise_right_shift = staticmethod(lambda x, y: f"decltype({x})({x} >> ({y} & 63))")
CppVecOverrides.bitwise_right_shift = CppOverrides.bitwise_right_shift
torch._inductor.config.cpp.simdlen = 0
def model(x, by):
    return torch.bitwise_right_shift(x, by) + 1
inputs = (torch.arange(-8, 8), torch.full((16,), 64))
""",
    ),
    ClosedIssue(
        159154,
        "a kernel that writes out of its buffer",
        "crashes",
        """import torch
from torch._inductor.codegen.cpp import CppOverrides, CppVecOverrides
torch._inductor.config.cpp.simdlen = 0
CppOverrides.exp = staticmethod(lambda x: f"std::exp({x}); *(volatile int*)8 = 1")
def model(xs, Ls):
    temp = torch.exp(-torch.einsum("i...,i->i...", xs, Ls))
    total = torch.einsum("i...->i", temp)
    return torch.einsum("i,i...->i...", 1 / total, temp)
inputs = (torch.ones(5, 1, 32, 32), torch.ones(5))
""",
    ),
    ClosedIssue(
        183894,
        "argmin after an in-place sin_",
        "wrong",
        """import torch
def before_sin(graph):
    sins = {node: node.args[0] for node in graph.nodes if node.target is torch.ops.aten.sin.default}
    for node in graph.nodes:
        if node.target is torch.ops.aten.permute.default and node.args[0] in sins:
            node.args = (sins[node.args[0]], *node.args[1:])
torch._inductor.config.post_grad_custom_post_pass = before_sin
def model(x):
    x.sin_()
    return x.transpose(0, 1).argmin(dim=0), x
inputs = (torch.randn(6, 9) * 4,)
""",
    ),
    ClosedIssue(
        190765,
        "transposed sum with dynamic shapes",
        "wrong",
        """import torch
VALUES = torch.tensor([-3.0, -1.0, 1.0, 2.0, 4.0])
def cyclic(*shape):
    n = shape[0] * shape[1]
    return VALUES[torch.arange(n) % 5].reshape(shape).clone()
torch_compile = {"dynamic": True}
def model(x, a, b):
    z = ((x @ a).t() + (x @ b).t()).t()
    z = torch.repeat_interleave(torch.flatten(z), repeats=2)
    return torch.flip(z, dims=[0])
inputs = (cyclic(8, 6), cyclic(6, 8), cyclic(6, 8))
""",
        fixed_in="2.14",
    ),
)
