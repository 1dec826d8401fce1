"""A tensor is made with `requires_grad=True` in forward.

Source: https://github.com/pytorch/pytorch/pull/196652
Finds: graph breaks at line 14
Cause: requires_grad
Cure: before|once|module level|requires_grad_
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    strain = torch.zeros(8, requires_grad=True)
    return x * (1 + strain)


inputs = (torch.randn(4, 8),)
