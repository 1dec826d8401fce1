"""A list comprehension over layers.

Source: https://github.com/pytorch/pytorch/issues/171822
"""

import torch

layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))


def model(x):
    return torch.stack([layer(x) for layer in layers]).sum(0)


inputs = (torch.randn(4, 8),)
