"""A generator is seeded within the compiled function.

Source: https://github.com/pytorch/pytorch/issues/107187
Finds: graph breaks at line 14
Cause: manual_seed
Cure: before|outside
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    torch.manual_seed(3)
    return x + 1


inputs = (torch.randn(4, 8),)


# Cured
def model(x):
    return x + 1
