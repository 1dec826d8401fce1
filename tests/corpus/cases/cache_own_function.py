"""A graph with a custom Function isn't kept in the cache.

Source: https://github.com/facebookresearch/fairchem/pull/2162
Finds: cache bypassed
Cause: autograd.Function|autograd_function
Cure: autograd_cache_allow_custom_autograd_functions
Expects: graphs 1
Run: --backend inductor --training --caches warm
"""

import torch


class Squared(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 2 * x * gradient


def model(x):
    return Squared.apply(x).sin()


inputs = (torch.ones(3, requires_grad=True),)


# Cured
import torch._functorch.config

torch._functorch.config.autograd_cache_allow_custom_autograd_functions = True


def confirmed():
    return torch._dynamo.utils.counters["aot_autograd"]["autograd_cache_bypass"] == 0
