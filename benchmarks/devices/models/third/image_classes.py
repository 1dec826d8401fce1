"""Inverted bottlenecks with depthwise convolutions, in bfloat16 and channels last."""

import torch
import torch.nn.functional as F
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        wide = 4 * channels
        self.into, self.mix = nn.Conv2d(channels, wide, 1, bias=False), nn.Conv2d(wide, wide, 3, stride, 1, groups=wide)
        self.down, self.up = nn.Conv2d(wide, wide // 16, 1), nn.Conv2d(wide // 16, wide, 1)
        self.out = nn.Conv2d(wide, out, 1, bias=False)
        self.norms = nn.ModuleList((nn.BatchNorm2d(wide), nn.BatchNorm2d(wide), nn.BatchNorm2d(out)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.silu(self.norms[1](self.mix(F.silu(self.norms[0](self.into(x))))))
        y = y * torch.sigmoid(self.up(F.silu(self.down(y.mean((2, 3), keepdim=True)))))
        y = self.norms[2](self.out(y))
        return x + y if x.shape == y.shape else y


model = nn.Sequential(
    nn.Conv2d(3, 32, 3, 2, 1, bias=False),
    nn.BatchNorm2d(32),
    nn.SiLU(),
    Bottleneck(32, 48, 2),
    Bottleneck(48, 48, 1),
    Bottleneck(48, 96, 2),
    Bottleneck(96, 96, 1),
    Bottleneck(96, 160, 2),
    Bottleneck(160, 160, 1),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(160, 1_000),
)
model = model.to(torch.bfloat16).to(memory_format=torch.channels_last).eval()
calls = [[torch.randn(64, 3, 224, 224).bfloat16().contiguous(memory_format=torch.channels_last)]]
training = False
