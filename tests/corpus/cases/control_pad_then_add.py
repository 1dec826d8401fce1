"""Replicated padding, whose result is added to itself and also returned.

Source: https://github.com/pytorch/pytorch/issues/115157
Run: --backend inductor
"""

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 1)

    def forward(self, x):
        padded = F.pad(self.conv(x).abs(), (0, 24, 34, 0), "replicate")
        return padded + padded, padded


model, inputs = Model().eval(), (torch.randn(1, 1, 5, 7),)
