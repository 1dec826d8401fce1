"""A compiled function returns a gradient, and its gradient is taken outside.

Source: https://github.com/pytorch/pytorch/issues/183603
Finds: double backward or graph breaks or not compiled: failed
Cause: double backward|second|autograd.grad|create_graph
Cure: eager|without|not compile|outside
Expects: graphs 1
Run: --script
"""

import torch


@torch.compile(backend="inductor")
def gradient(x):
    y = (x**4).sum()
    return torch.autograd.grad(y, x, create_graph=True)[0]


x = torch.tensor([0.5, 1.5], requires_grad=True)
print(torch.autograd.grad(gradient(x).sum(), x)[0].sum().item())


# Cured
import torch


@torch.compile(backend="eager")
def gradient(x):
    y = (x**4).sum()
    return torch.autograd.grad(y, x, create_graph=True)[0]


x = torch.tensor([0.5, 1.5], requires_grad=True)
print(torch.autograd.grad(gradient(x).sum(), x)[0].sum().item())
