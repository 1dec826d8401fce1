"""A training step with `backward()` in one compiled function.

Source: https://github.com/pytorch/pytorch/issues/138217
Finds: graph breaks at line 18
Cause: backward
Cure: trace_autograd_ops
Expects: breaks 0, graphs 1
"""

import torch

weight = torch.ones(8, requires_grad=True)


def model(x):
    weight.grad = None
    loss = (x * weight).square().mean()
    loss.backward()
    return loss.detach()


inputs = (torch.randn(4, 8),)
