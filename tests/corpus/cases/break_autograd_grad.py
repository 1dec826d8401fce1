"""Forces are a gradient by the positions, within the compiled function.

Source: https://github.com/pytorch/pytorch/pull/196652
Finds: graph breaks at line 15
Cause: autograd
Cure: trace_autograd_ops
Expects: breaks 0, graphs 1
"""

import torch


def model(positions):
    energy = positions.square().sum()
    (gradient,) = torch.autograd.grad(energy, positions)
    return -gradient


inputs = (torch.randn(4, 3, requires_grad=True),)
