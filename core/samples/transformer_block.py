"""Transformer block

A pre-norm block as in GPT: attention stays one fused library call, the matrix products stay library calls, and all that
is between them (norms, residuals, GELU) becomes a few kernels.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

group = "Attention"

D_MODEL, HEADS, BATCH, LENGTH = 256, 4, 8, 64


class Attention(nn.Module):
    """Multi-head self-attention."""

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, d_model = x.shape
        qkv = self.qkv(x).view(batch, length, 3, self.heads, d_model // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        out: Tensor = self.proj(attended.transpose(1, 2).reshape(batch, length, d_model))
        return out


class TransformerBlock(nn.Module):
    """Attention and a feed-forward network, each after a LayerNorm and with a residual connection."""

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.up = nn.Linear(d_model, 4 * d_model)
        self.down = nn.Linear(4 * d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        return x


model = TransformerBlock(D_MODEL, HEADS).eval()
inputs = (torch.randn(BATCH, LENGTH, D_MODEL),)
