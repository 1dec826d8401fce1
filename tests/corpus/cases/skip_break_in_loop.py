"""A break in a loop leaves the whole function to eager.

Source: https://github.com/pytorch/pytorch/issues/112824
Finds: graph breaks at line 17
Cause: loop|whole|skip|eager
Cure: print|reorderable_logging_functions
Expects: breaks 0, graphs 1
"""

import torch


def model(x, y):
    z = x * y
    for _ in range(3):
        z = z * y
        print(z.sum())
    return z.sin()


inputs = (torch.randn(2, 2), torch.randn(2, 2))
