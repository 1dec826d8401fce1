"""Depth of images by dilated convolutions side by side, and a fusion of scales, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn


def unit(channels: int, out: int, kernel: int, stride: int = 1, dilation: int = 1) -> nn.Sequential:
    padding = dilation * (kernel // 2)
    conv = nn.Conv2d(channels, out, kernel, stride, padding, dilation, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(out), nn.LeakyReLU(0.1))


class Depth(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(unit(3, 40, 3, 2), unit(40, 80, 3, 2), unit(80, 80, 3))
        self.second = nn.Sequential(unit(80, 160, 3, 2), unit(160, 160, 3))
        self.sides = nn.ModuleList(unit(160, 96, 3, dilation=dilation) for dilation in (1, 3, 6, 9))
        self.joined = unit(4 * 96 + 80, 128, 1)
        self.last = nn.Conv2d(128, 1, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        near = self.first(x)
        far = self.second(near)
        far = torch.cat([side(far) for side in self.sides], 1)
        far = F.interpolate(far, size=near.shape[-2:], mode="bilinear")
        return F.softplus(self.last(self.joined(torch.cat((far, near), 1))))


model = Depth().to(torch.bfloat16).eval()
calls = [[torch.randn(16, 3, 256, 320).bfloat16()]]
training = False
