r"""A compiled rounding function gets parameters of the size of each layer.

Source: https://github.com/intel/auto-round/issues/1679
Finds: recompiles or not compiled: over the limit or near the recompile limit
Cause: size|parameter|static
Cure: force_parameter_static_shapes|detach|\.data|dynamic
Expects: recompiles 1
Lacks: cured
"""

import torch


def model(weight, rounding):
    scale = weight.abs().amax(-1, keepdim=True) / 7
    return (weight / scale + rounding).round() * scale


def calls():
    for size in range(3, 13):
        yield torch.ones(size, 8), torch.nn.Parameter(torch.full((size, 8), 0.1))


# Cured


def calls():
    for size in range(3, 13):
        yield torch.ones(size, 8), torch.full((size, 8), 0.1)
