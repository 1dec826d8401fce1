r"""One compiled block function serves the stages of a network, each with its own number of channels.

Source: https://github.com/Comfy-Org/ComfyUI/issues/8342
Finds: recompiles or near the recompile limit or not compiled: over the limit
Cause: size|width|channels|shape
Cure: force_parameter_static_shapes|maybe_mark_dynamic
Expects: recompiles 0
Lacks: cured
"""

import torch


def model(rows, weight, bias):
    return torch.nn.functional.silu(rows @ weight + bias)


def call(width):
    torch.manual_seed(width)
    weight = torch.nn.Parameter(torch.randn(width, width), requires_grad=False)
    return torch.randn(2, width), weight, torch.nn.Parameter(torch.zeros(width), requires_grad=False)


calls = [call(width) for width in (3, 4, 5, 6, 7, 8, 9, 10, 11, 12)]

# Cured


def call_of_tensors(width):
    rows, weight, bias = call(width)
    each = rows, weight.data, bias.data
    for tensor in each:
        for dimension in range(tensor.dim()):
            torch._dynamo.maybe_mark_dynamic(tensor, dimension)
    torch._dynamo.decorators.mark_static(rows, 0)
    return each


calls = [call_of_tensors(width) for width in (3, 4, 5, 6, 7, 8, 9, 10, 11, 12)]
