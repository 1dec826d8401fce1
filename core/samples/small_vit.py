"""Small vision transformer

An image becomes a sequence: a strided convolution cuts patches, a class token is joined to them, and two transformer
blocks follow.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

group = "Vision"

D_MODEL, HEADS, LAYERS, PATCH, SIZE, CLASSES = 128, 4, 2, 8, 64, 10


class Block(nn.Module):
    """A pre-norm transformer block in which every patch attends to every other patch."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(D_MODEL)
        self.qkv = nn.Linear(D_MODEL, 3 * D_MODEL)
        self.proj = nn.Linear(D_MODEL, D_MODEL)
        self.norm2 = nn.LayerNorm(D_MODEL)
        self.mlp = nn.Sequential(nn.Linear(D_MODEL, 4 * D_MODEL), nn.GELU(), nn.Linear(4 * D_MODEL, D_MODEL))

    def forward(self, x: Tensor) -> Tensor:
        qkv = self.qkv(self.norm1(x)).unflatten(-1, (3, HEADS, -1))
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value)
        x = x + self.proj(attended.transpose(1, 2).flatten(2))
        x = x + self.mlp(self.norm2(x))
        return x


class SmallViT(nn.Module):
    """A vision transformer from images to class logits."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, D_MODEL, PATCH, stride=PATCH)
        self.class_token = nn.Parameter(torch.randn(1, 1, D_MODEL))
        self.positions = nn.Parameter(torch.randn(1, 1 + (SIZE // PATCH) ** 2, D_MODEL))
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(D_MODEL)
        self.head = nn.Linear(D_MODEL, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        patches = self.patches(images).flatten(2).transpose(1, 2)
        class_token = self.class_token.expand(images.shape[0], -1, -1)
        x = self.blocks(torch.cat((class_token, patches), dim=1) + self.positions)
        logits: Tensor = self.head(self.norm(x[:, 0]))
        return logits


model = SmallViT().eval()
inputs = (torch.randn(4, 3, SIZE, SIZE),)
