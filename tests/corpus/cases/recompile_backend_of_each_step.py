"""Each step compiles the same function with a new backend, for which nothing that was compiled before is valid.

Source: https://github.com/pytorch/pytorch/issues/154707
Finds: recompiles or compiler reset or guards
Cause: backend|compiled again|each call|every
Cure: once|outside|before the loop|same backend
Expects: recompiles 0
Run: --script
"""

import torch


def norm(x):
    return x / x.norm()


x = torch.ones(8)
for step in range(5):
    compiled = torch.compile(norm, backend=lambda graph, inputs: graph.forward)
    compiled(x)

# Cured
import torch


def norm(x):
    return x / x.norm()


x = torch.ones(8)
compiled = torch.compile(norm, backend=lambda graph, inputs: graph.forward)
for step in range(5):
    compiled(x)
