"""Attention over packed documents: a position sees earlier positions of its own document alone."""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x, mask):
        length, width = x.shape
        query, key, value = self.qkv(x).view(length, 3, self.heads, -1).permute(1, 2, 0, 3)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return x + self.output(mixed.transpose(0, 1).reshape(length, width))


class PackedAttention(nn.Module):
    """Attention with a mask by documents."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.attention = Attention(width)
        self.compiled = [torch.compile(self.attention)]

    def mask(self, documents):
        length = len(documents)
        mask = torch.zeros(length, length, dtype=torch.bool)
        for row in range(length):
            for column in range(row + 1):
                mask[row, column] = documents[row] == documents[column] and documents[row] >= 0
            mask[row, row] = True
        return mask

    def forward(self, x, documents):
        return self.compiled[0](x, self.mask(documents))


def build(width: int = 32):
    """Return the module; it takes x, (length, width), and documents, (length,), negative for padding."""
    return PackedAttention(width)
