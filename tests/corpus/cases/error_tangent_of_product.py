r"""A decorated loss with a matrix product gets a dual tensor for its directional derivative.

Source: https://github.com/pytorch/pytorch/pull/189644
Finds: tangent of compiled code
Cause: dual tensor of forward-mode
Cure: Differentiate within the compiled function
Expects: graphs 1
Run: --script
"""

import torch
import torch.autograd.forward_ad as forward_ad

torch.manual_seed(0)


@torch.compile
def loss(weight, x):
    return torch.tanh(x @ weight).square().mean()


weight, x, direction = torch.randn(4, 3), torch.randn(8, 4), torch.ones(4, 3)
with forward_ad.dual_level():
    dual = forward_ad.make_dual(weight, direction)
    slope = forward_ad.unpack_dual(loss(dual, x)).tangent
print("slope", slope if slope is None else round(float(slope), 4))

# Cured
import torch

torch.manual_seed(0)


def loss(weight, x):
    return torch.tanh(x @ weight).square().mean()


@torch.compile
def slope_of(weight, x, direction):
    return torch.func.jvp(lambda each: loss(each, x), (weight,), (direction,))[1]


weight, x, direction = torch.randn(4, 3), torch.randn(8, 4), torch.ones(4, 3)
print("slope", round(float(slope_of(weight, x, direction)), 4))
