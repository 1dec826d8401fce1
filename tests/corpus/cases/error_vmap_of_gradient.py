"""The gradient of a compiled function is taken in `vmap`.

Source: https://github.com/pytorch/pytorch/issues/138422
Finds: compiled backward in a transform
Cause: vmap
Cure: vmap inside|inside torch.compile|is_grads_batched|eager
Expects: graphs 1
Run: --script
"""

import torch


@torch.compile(backend="aot_eager")
def model(x):
    return x.sin() * 2


x = torch.ones(3, requires_grad=True)
y = model(x)
rows = torch.vmap(lambda row: torch.autograd.grad(y, x, row, retain_graph=True)[0])(torch.eye(3))
print(rows.sum().item())


# Cured
import torch


@torch.compile(backend="eager")
def model(x):
    return x.sin() * 2


x = torch.ones(3, requires_grad=True)
y = model(x)
rows = torch.vmap(lambda row: torch.autograd.grad(y, x, row, retain_graph=True)[0])(torch.eye(3))
print(rows.sum().item())
