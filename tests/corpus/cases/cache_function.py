"""A custom Function keeps the graph out of AOTAutograd's cache.

Source: https://github.com/SandAI-org/MagiCompiler/pull/16
Run: --backend inductor --caches warm
Finds: cache bypassed
Cause: autograd_function_apply
Cure: autograd_cache_allow_custom_autograd_functions
Expects: graphs 1
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


# Cured
import torch._functorch.config

torch._functorch.config.autograd_cache_allow_custom_autograd_functions = True


def confirmed():
    return torch._dynamo.utils.counters["aot_autograd"]["autograd_cache_bypass"] == 0
