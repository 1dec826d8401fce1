"""A layer of local attention keeps its mask, which is None until the first image has come.

Source: https://github.com/pytorch/pytorch/issues/121504
Finds: recompiles
Cause: mask
Cure: __init__|constructor|register_buffer|buffer|before|ahead|outside|initial
Expects: recompiles 0
"""

import torch
from torch import nn


class LocalAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qk_mask = None

    def forward(self, x):
        scores = x @ x.transpose(-1, -2)
        if self.qk_mask is None:
            positions = torch.arange(scores.shape[-1])
            self.qk_mask = (positions[:, None] - positions).abs() > 2
        return scores.masked_fill(self.qk_mask, -torch.inf).softmax(-1) @ x


model = LocalAttention()
calls = [(torch.linspace(0, 1, 48).view(6, 8),)] * 3

# Cured


class Prepared(LocalAttention):
    def __init__(self):
        super().__init__()
        positions = torch.arange(6)
        self.qk_mask = (positions[:, None] - positions).abs() > 2


model = Prepared()
