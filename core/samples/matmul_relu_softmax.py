"""Matmul, ReLU, softmax

The matrix product stays a library call. ReLU and softmax, a pointwise op and two reductions, fuse into one
kernel after it.
"""

import torch
from torch import Tensor

group = "First steps"


def model(x: Tensor, weight: Tensor) -> Tensor:
    return torch.softmax(torch.relu(x @ weight), dim=-1)


inputs = (torch.randn(256, 512), torch.randn(512, 1024) / 512**0.5)
