r"""The operations of a compiled function are counted in its first call.

Source: https://github.com/pytorch/pytorch/issues/123800
Finds: nothing compiled
Cause: \bmode\b|FlopCounter|dispatch|not compiled|skip
Cure: before|after|original|eager|without|outside|uncompiled|first
Expects: graphs 1
Run: --script
"""

import torch
from torch.utils.flop_counter import FlopCounterMode


def workload(x, weight):
    x = x @ weight
    for _ in range(5):
        x = torch.sin(x) + 0.01 * x
    return x


torch.manual_seed(0)
compiled = torch.compile(workload, backend="eager")
x, weight = torch.randn(64, 32), torch.randn(32, 32)
counter = FlopCounterMode(display=False)
with counter:
    compiled(x, weight)
for _ in range(5):
    y = compiled(x, weight)
print(counter.get_total_flops(), round(float(y.sum()), 2))

# Cured
import torch
from torch.utils.flop_counter import FlopCounterMode


def workload(x, weight):
    x = x @ weight
    for _ in range(5):
        x = torch.sin(x) + 0.01 * x
    return x


torch.manual_seed(0)
compiled = torch.compile(workload, backend="eager")
x, weight = torch.randn(64, 32), torch.randn(32, 32)
counter = FlopCounterMode(display=False)
with counter:
    workload(x, weight)
for _ in range(5):
    y = compiled(x, weight)
print(counter.get_total_flops(), round(float(y.sum()), 2))


def confirmed():
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"] == 1
