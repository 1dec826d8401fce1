"""A backward hook that is registered after the first call never runs.

Source: https://github.com/pytorch/pytorch/issues/117265
Finds: results differ
Run: --script
Cause: (?i)hook
Cure: (?i)before|first call|skip_nnmodule_hook_guards|reset|register
Lacks: detected, explained, cured
"""

import torch

layer = torch.nn.Linear(3, 3, bias=False)


@torch.compile(backend="aot_eager", fullgraph=True)
def function(x):
    return layer(x)


def double(module, gradients):
    return tuple(gradient * 2 for gradient in gradients)


function(torch.randn(3, requires_grad=True))
layer.register_full_backward_pre_hook(double)
x = torch.randn(3, requires_grad=True)
function(x).sum().backward()
print(x.grad)


def confirmed():
    return torch.allclose(x.grad, 2 * layer.weight.sum(dim=0))


# Cured
import torch

layer = torch.nn.Linear(3, 3, bias=False)


@torch.compile(backend="aot_eager")
def function(x):
    return layer(x)


def double(module, gradients):
    return tuple(gradient * 2 for gradient in gradients)


layer.register_full_backward_pre_hook(double)
function(torch.randn(3, requires_grad=True))
x = torch.randn(3, requires_grad=True)
function(x).sum().backward()
print(x.grad)


def confirmed():
    return torch.allclose(x.grad, 2 * layer.weight.sum(dim=0))
