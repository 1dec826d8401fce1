"""A deep transformer encoder of equal layers, compiled as a whole."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    depth: int = 24
    width: int = 32
    heads: int = 4


class Layer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads = config.heads
        self.norm = nn.LayerNorm(config.width)
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.output = nn.Linear(config.width, config.width)
        self.wide = nn.Linear(config.width, 4 * config.width)
        self.narrow = nn.Linear(4 * config.width, config.width)

    def forward(self, x):
        rows, length, width = x.shape
        parts = self.qkv(self.norm(x)).view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(rows, length, width)
        x = x + self.output(mixed)
        return x + self.narrow(F.gelu(self.wide(x)))


class Encoder(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.depth))
        self.final = nn.LayerNorm(config.width)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.final(x)


def load(config: Config):
    """Return the encoder and its compiled forward over (rows, length, width)."""
    encoder = Encoder(config)
    return encoder, torch.compile(encoder)
