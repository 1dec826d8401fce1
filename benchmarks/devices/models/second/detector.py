"""A detector: bottlenecks, a pyramid of features with upsampling, heads; bfloat16, channels last."""

import torch
import torch.nn.functional as F
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        middle = out // 4
        self.parts = nn.Sequential(
            nn.Conv2d(channels, middle, 1, bias=False),
            nn.BatchNorm2d(middle),
            nn.ReLU(),
            nn.Conv2d(middle, middle, 3, stride, 1, bias=False),
            nn.BatchNorm2d(middle),
            nn.ReLU(),
            nn.Conv2d(middle, out, 1, bias=False),
            nn.BatchNorm2d(out),
        )
        self.short = nn.Conv2d(channels, out, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.parts(x) + self.short(x))


class Detector(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.start = nn.Conv2d(3, 32, 5, 2, 2)
        self.stages = nn.ModuleList((Bottleneck(32, 128, 2), Bottleneck(128, 256, 2), Bottleneck(256, 512, 2)))
        self.sides = nn.ModuleList(nn.Conv2d(channels, 96, 1) for channels in (128, 256, 512))
        self.classes, self.boxes = nn.Conv2d(96, 80, 3, 1, 1), nn.Conv2d(96, 4, 3, 1, 1)

    def forward(self, image: torch.Tensor) -> list[torch.Tensor]:
        x, sides = F.relu(self.start(image)), []
        for stage, side in zip(self.stages, self.sides, strict=True):
            x = stage(x)
            sides.append(side(x))
        results, above = [], sides[-1]
        for side in reversed(sides):
            above = side if side is sides[-1] else side + F.interpolate(above, scale_factor=2.0)
            results += [self.classes(above).sigmoid(), self.boxes(above)]
        return results


model = Detector().to(torch.bfloat16).eval().to(memory_format=torch.channels_last)
calls = [[torch.randn(16, 3, 320, 320).bfloat16().contiguous(memory_format=torch.channels_last)]] * 4
training = False
