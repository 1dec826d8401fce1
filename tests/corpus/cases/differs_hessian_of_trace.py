"""The Hessian of a function that has a trace is compiled.

Source: https://github.com/pytorch/pytorch/issues/190855
Finds: results differ
Cause: trace|hessian|gradient
Cure: diagonal|einsum|diag|eager|sum
Expects: graphs 1, breaks 0
Run: --backend inductor
Lacks: explained
"""

import torch


def energy(x):
    return torch.trace(x) ** 2 + (x**3).sum()


model, inputs = torch.func.hessian(energy), (torch.randn(2, 2),)


# Cured
def energy(x):
    return torch.diagonal(x).sum() ** 2 + (x**3).sum()


model = torch.func.hessian(energy)
