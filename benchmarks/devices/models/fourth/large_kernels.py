"""Image classes by depthwise convolutions of seven by seven and wide layers, trained in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.apart = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.apart(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.down(F.gelu(self.up(y)))).permute(0, 3, 1, 2)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 96, 4, 4), Block(96), Block(96), nn.Conv2d(96, 192, 2, 2), Block(192), Block(192)
        )
        self.head = nn.Linear(192, 1_000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x).mean((2, 3))).float().logsumexp(-1).mean()


model = Model().to(torch.bfloat16)
calls = [[torch.randn(64, 3, 192, 192).bfloat16()]]
training = True
