"""Llama block

The parts of a modern decoder: RMSNorm, rotary positions, grouped-query attention and SwiGLU. The rotation is many small
ops on halves of a head, and all of them fuse.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

group = "Language models"

D_MODEL, HEADS, KV_HEADS, HEAD_DIM, HIDDEN, BATCH, LENGTH = 256, 8, 2, 32, 688, 4, 64


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Apply rotary position embedding: pair the elements of a head's halves, and rotate each pair.

    The angles grow with the position.
    """
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class LlamaBlock(nn.Module):
    """Grouped-query attention and a gated feed-forward network."""

    cos: Tensor
    sin: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.norm1 = nn.RMSNorm(D_MODEL)
        self.query = nn.Linear(D_MODEL, HEADS * HEAD_DIM, bias=False)
        self.key = nn.Linear(D_MODEL, KV_HEADS * HEAD_DIM, bias=False)
        self.value = nn.Linear(D_MODEL, KV_HEADS * HEAD_DIM, bias=False)
        self.proj = nn.Linear(HEADS * HEAD_DIM, D_MODEL, bias=False)
        self.norm2 = nn.RMSNorm(D_MODEL)
        self.gate = nn.Linear(D_MODEL, HIDDEN, bias=False)
        self.up = nn.Linear(D_MODEL, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, D_MODEL, bias=False)
        frequencies = 10_000.0 ** (-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)
        angles = torch.outer(torch.arange(LENGTH), frequencies)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def attend(self, x: Tensor) -> Tensor:
        query = self.query(x).unflatten(-1, (HEADS, HEAD_DIM)).transpose(1, 2)
        key = self.key(x).unflatten(-1, (KV_HEADS, HEAD_DIM)).transpose(1, 2)
        value = self.value(x).unflatten(-1, (KV_HEADS, HEAD_DIM)).transpose(1, 2)
        query, key = rotate(query, self.cos, self.sin), rotate(key, self.cos, self.sin)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        out: Tensor = self.proj(attended.transpose(1, 2).flatten(2))
        return out

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attend(self.norm1(x))
        normed = self.norm2(x)
        x = x + self.down(F.silu(self.gate(normed)) * self.up(normed))
        return x


model = LlamaBlock().eval()
inputs = (torch.randn(BATCH, LENGTH, D_MODEL),)
