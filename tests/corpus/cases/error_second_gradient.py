"""A second gradient is taken through a compiled function.

Source: https://github.com/torchmd/torchmd-net/issues/307
Finds: double backward or not compiled: failed
Cause: double backward|second|twice
Cure: eager|without|not compile
Expects: graphs 1
Run: --script
"""

import torch


@torch.compile(backend="aot_eager")
def energy(x):
    return x * x * x


x = torch.ones(4, requires_grad=True)
y = energy(x)
force = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]
print(torch.autograd.grad(force, x, torch.ones_like(force))[0].sum().item())


# Cured
import torch


@torch.compile(backend="eager")
def energy(x):
    return x * x * x


x = torch.ones(4, requires_grad=True)
y = energy(x)
force = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]
print(torch.autograd.grad(force, x, torch.ones_like(force))[0].sum().item())
