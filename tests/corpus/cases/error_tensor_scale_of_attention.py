r"""Attention divides its scores by a scale that is a tensor.

Source: https://github.com/pytorch/pytorch/issues/191203
Finds: not compiled: failed
Cause: scale|attention|sdpa|scaled_dot_product
Cure: scaled_dot_product_attention|float|number|item|math\.sqrt|python
Expects: graphs 1, breaks 0
Run: --backend inductor
"""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, head_dim=8):
        super().__init__()
        self.register_buffer("scale", torch.sqrt(torch.tensor(float(head_dim))))
        self.register_buffer("mask", torch.triu(torch.full((8, 8), -1e9), diagonal=1))

    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) / self.scale
        weights = F.softmax(scores + self.mask, dim=-1)
        return weights @ v


model = Attention().eval()
inputs = tuple(torch.randn(1, 2, 8, 8) for _ in range(3))


# Cured
class Attention(nn.Module):
    def __init__(self, head_dim=8):
        super().__init__()
        self.register_buffer("mask", torch.triu(torch.full((8, 8), -1e9), diagonal=1))

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)


model = Attention().eval()
