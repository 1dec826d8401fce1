"""A network of images to images with skip connections, trained in float32 with instance norms."""

import torch
import torch.nn.functional as F
from torch import nn


def double(channels: int, out: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, out, 3, 1, 1, bias=False),
        nn.InstanceNorm2d(out, affine=True),
        nn.LeakyReLU(0.1),
        nn.Conv2d(out, out, 3, 1, 1, bias=False),
        nn.InstanceNorm2d(out, affine=True),
        nn.LeakyReLU(0.1),
    )


class Segments(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList((double(3, 40), double(40, 80)))
        self.middle = double(80, 160)
        self.up = nn.ModuleList((double(240, 80), double(120, 40)))
        self.last = nn.Conv2d(40, 12, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = []
        for part in self.down:
            x = part(x)
            skips.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.middle(x)
        for part in self.up:
            x = part(torch.cat((F.interpolate(x, scale_factor=2.0), skips.pop()), 1))
        return self.last(x).log_softmax(1)


model = Segments()
calls = [[torch.randn(16, 3, 144, 144)]] * 4
training = True
