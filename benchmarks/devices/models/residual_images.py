"""Residual blocks of convolutions and batch norms, trained in float32, channels first."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList((nn.BatchNorm2d(out), nn.BatchNorm2d(out)))
        self.short = nn.Conv2d(channels, out, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.norms[0](self.first(x)))
        return F.relu(self.norms[1](self.second(y)) + self.short(x))


model = nn.Sequential(
    nn.Conv2d(3, 48, 7, 2, 3, bias=False),
    nn.BatchNorm2d(48),
    nn.ReLU(),
    nn.MaxPool2d(3, 2, 1),
    Block(48, 96, 1),
    Block(96, 192, 2),
    Block(192, 384, 2),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(384, 100),
)
calls = [[torch.randn(48, 3, 192, 192)]] * 8
training = True
