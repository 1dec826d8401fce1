"""Rotary embeddings are multiplied as complex numbers.

Source: https://github.com/huggingface/diffusers/pull/11649
Finds: printed
Cause: complex|view_as_complex|fallback
Cure: real|cos|sin
Expects: graphs 1, breaks 0
Run: --backend inductor
"""

import torch
from torch import nn


class RotaryAttention(nn.Module):
    def __init__(self, dim=64, heads=4, length=64):
        super().__init__()
        self.heads, head_dim = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        angles = torch.outer(torch.arange(length), 1e4 ** (-torch.arange(0, head_dim, 2) / head_dim))
        self.register_buffer("freqs", torch.polar(torch.ones_like(angles), angles))

    def rotate(self, x):
        complex_x = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
        return torch.view_as_real(complex_x * self.freqs).flatten(-2)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        q, k = self.rotate(q), self.rotate(k)
        return nn.functional.scaled_dot_product_attention(q, k, v)


model, inputs = RotaryAttention().eval(), (torch.randn(2, 64, 64),)


# Cured
class RotaryAttention(nn.Module):
    def __init__(self, dim=64, heads=4, length=64):
        super().__init__()
        self.heads, head_dim = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        angles = torch.outer(torch.arange(length), 1e4 ** (-torch.arange(0, head_dim, 2) / head_dim))
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def rotate(self, x):
        a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack([a * self.cos - b * self.sin, a * self.sin + b * self.cos], -1).flatten(-2)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        q, k = self.rotate(q), self.rotate(k)
        return nn.functional.scaled_dot_product_attention(q, k, v)


torch.manual_seed(0)
model = RotaryAttention().eval()
