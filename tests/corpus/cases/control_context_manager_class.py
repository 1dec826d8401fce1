"""A context manager of one's own, written as a class, is used in the forward.

Source: https://github.com/Lightning-AI/pytorch-lightning/pull/18557
"""

import torch
from torch import nn


class Scope:
    def __init__(self, factor):
        self.factor = factor

    def __enter__(self):
        return self.factor

    def __exit__(self, *args):
        return None


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        with Scope(0.5) as factor:
            x = self.proj(x) * factor
        with torch.no_grad():
            shift = x.mean()
        return x - shift


model = Block()
calls = [(torch.randn(3, 4),) for _ in range(2)]
