"""Compiled autograd captures the backward of a custom Function anew in each step.

Source: https://github.com/pytorch/pytorch/issues/155105
Run: --script
Finds: backward captured again
Cause: ApplyTemplateBackward
Cure: aot_eager
Expects: recompiles 0
"""

import torch
from torch._dynamo import compiled_autograd


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        return rows * 3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


def whole(rows):
    return Scaled.apply(rows.sin()).sum()


compiled = torch.compile(whole, backend="eager")
for _ in range(4):
    loss = compiled(torch.ones(4, requires_grad=True))
    with compiled_autograd._enable(lambda graph: torch.compile(graph, backend="eager")):
        loss.backward()

# Cured
import torch
from torch._dynamo import compiled_autograd


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        return rows * 3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


def whole(rows):
    return Scaled.apply(rows.sin()).sum()


compiled = torch.compile(whole, backend="aot_eager")
for _ in range(4):
    loss = compiled(torch.ones(4, requires_grad=True))
    with compiled_autograd._enable(lambda graph: torch.compile(graph, backend="aot_eager")):
        loss.backward()


def confirmed():
    return torch._dynamo.utils.counters["compiled_autograd"]["captures"] == 1
