"""Four calls of the same sizes.

Source: https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html
"""

import torch


def model(x):
    return x.relu().mean(0)


calls = [(torch.randn(4, 8),) for _ in range(4)]
