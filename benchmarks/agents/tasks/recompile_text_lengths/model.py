"""A text encoder whose compiled forward sees sentences of many lengths."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, tokens: int = 60, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.embed = nn.Embedding(tokens, width)
        self.attend = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.tags = nn.Linear(width, 5)

    def forward(self, tokens):
        x = self.embed(tokens)
        positions = torch.arange(x.shape[1]).unsqueeze(0) / 50
        x = x + torch.sin(positions).unsqueeze(-1)
        x = self.norm(x + self.attend(x, x, x, need_weights=False)[0])
        return self.tags(x)


encoder = Encoder()
# Sizes that vary made an older version fail.
compiled = torch.compile(encoder, dynamic=False)


def tag(tokens):
    """Return tag scores, (rows, length, 5), of tokens, (rows, length)."""
    return compiled(tokens)
