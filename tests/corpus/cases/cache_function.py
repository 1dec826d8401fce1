"""A custom Function keeps the graph out of AOTAutograd's cache.

Source: https://github.com/SandAI-org/MagiCompiler/pull/16
Run: --backend inductor --caches warm
Finds: cache bypassed
Cause: autograd_function_apply
Cure: Inductor's cache
Lacks: cured
"""

import torch


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        return rows * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def model(rows):
    return Doubled.apply(rows.sin()).sum()


inputs = (torch.ones(8, requires_grad=True),)
training = True
