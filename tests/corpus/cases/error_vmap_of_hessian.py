"""A batch of Hessians crashes in the compiler, though eager computes it.

Source: https://github.com/pytorch/pytorch/issues/183015
Finds: not compiled: failed or graph breaks
Cause: (?i)hessian|jacfwd|vmap|forward.mode|functorch
Cure: (?i)jacrev|outside|without vmap|disable
Expects: graphs 1, breaks 0, recompiles 0
Lacks: detected
"""

import torch


def energy(x):
    return (torch.sin(x) * x.square()).sum()


model = torch.vmap(torch.func.hessian(energy))
inputs = (torch.randn(3, 4),)

# Cured
model = torch.vmap(torch.func.jacrev(torch.func.jacrev(energy)))
