"""The code calls autograd.grad within a graph that must not break.

Source: https://github.com/pytorch/pytorch/issues/133230
Run: --backend eager --fullgraph
Finds: not compiled: failed at line 16
Cause: autograd.grad
Cure: trace_autograd_ops
Expects: graphs 1
"""

import torch


def model(points):
    energy = points**3 - 2 * points**2
    (force,) = torch.autograd.grad(energy.sum(), points)
    return energy, force


inputs = (torch.randn(10, requires_grad=True),)
