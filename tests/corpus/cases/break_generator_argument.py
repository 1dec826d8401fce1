"""A random op takes its own generator.

Source: https://github.com/pytorch/pytorch/issues/118735
Finds: graph breaks at line 16
Cause: generator
Cure: before|outside|input|argument
Expects: breaks 0, graphs 1
"""

import torch

source = torch.Generator().manual_seed(42)


def model(x):
    return x + torch.rand(8, generator=source)


inputs = (torch.randn(4, 8),)


# Cured
def model(x, noise):
    return x + noise


inputs = (*inputs, torch.rand(8, generator=torch.Generator().manual_seed(42)))
