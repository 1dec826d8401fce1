"""A helper is marked with `torch.compiler.disable`.

Source: https://github.com/pytorch/pytorch/issues/173452
Finds: graph breaks at line 19
Cause: disable
Cure: disable
Expects: breaks 0, graphs 1
"""

import torch


@torch.compiler.disable
def helper(x):
    return x + 1


def model(x):
    return helper(x.sin()).cos()


inputs = (torch.randn(4, 8),)
