"""A backend function is made anew for each compiled layer.

Source: https://github.com/pytorch/pytorch/issues/168373
Finds: recompiles
Cause: backend
Cure: once|same backend|one backend
Expects: recompiles 0
Run: --script
"""

import torch


def double(x):
    return x * 2


def new_backend():
    return lambda graph, examples: graph.forward


x = torch.randn(4)
for _ in range(3):
    torch.compile(double, backend=new_backend())(x)


# Cured
torch._dynamo.reset()
torch._dynamo.utils.counters.clear()
torch._dynamo.utils.clear_compilation_metrics()
once = new_backend()
for _ in range(3):
    torch.compile(double, backend=once)(x)
