"""A library call for a maximum

Inductor has no loop for `torch.topk`: it calls the library between two kernels. One kernel is enough.
"""

import torch
from torch import Tensor


def model(x: Tensor) -> Tensor:
    scaled = torch.tanh(x) * 3
    largest = torch.topk(scaled, k=1, dim=-1).values
    return scaled / largest.abs()


inputs = (torch.randn(64, 64),)
