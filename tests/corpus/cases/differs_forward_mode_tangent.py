r"""A directional derivative by forward-mode differentiation through a compiled function.

Source: https://github.com/pytorch/pytorch/issues/187284
Finds: results may differ
Cause: forward.mode|forward_ad|dual|tangent|jvp
Cure: inside|compile.*jvp|torch\.func\.jvp|eager|within|whole
Expects: graphs 1
Run: --script
"""

import torch
import torch.autograd.forward_ad as fwAD


def energy(x):
    return (x**2).sum() + x.prod()


compiled = torch.compile(energy)
x, v = torch.tensor([0.1, 0.2, 0.3]), torch.ones(3)
with fwAD.dual_level():
    out = compiled(fwAD.make_dual(x, v))
    tangent = fwAD.unpack_dual(out).tangent
    print(None if tangent is None else round(float(tangent), 4))

# Cured
import torch


def energy(x):
    return (x**2).sum() + x.prod()


def derivative(x, v):
    return torch.func.jvp(energy, (x,), (v,))[1]


compiled = torch.compile(derivative)
x, v = torch.tensor([0.1, 0.2, 0.3]), torch.ones(3)
print(round(float(compiled(x, v)), 4))
