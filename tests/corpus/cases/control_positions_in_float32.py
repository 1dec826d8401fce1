"""A model in bfloat16 computes the angles of positions in float32.

Source: https://github.com/nkalyanv99/UNI-D2/pull/6
"""

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim, self.scale = dim, nn.Parameter(torch.ones(dim))

    def forward(self, x):
        rates = 1.0 / 10000 ** (torch.arange(0, self.dim, 2, dtype=torch.float32) / self.dim)
        angles = torch.outer(torch.arange(x.shape[1], dtype=torch.float32), rates)
        table = torch.cat((angles.cos(), angles.sin()), -1).to(x.dtype)
        return x * table * self.scale


model = Rotary(16).bfloat16()
inputs = (torch.randn(1, 40, 16, dtype=torch.bfloat16),)
