"""An image in the style of another: means and spreads of channels exchanged, in float32."""

import torch
import torch.nn.functional as F
from torch import nn


def unit(channels: int, out: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(channels, out, 3, stride), nn.ReLU())


class Style(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.into = nn.Sequential(unit(3, 32), unit(32, 64, 2), unit(64, 128, 2), unit(128, 128))
        self.back = nn.Sequential(
            unit(128, 128), nn.Upsample(scale_factor=2), unit(128, 64), nn.Upsample(scale_factor=2), unit(64, 32),
            nn.ReflectionPad2d(4), nn.Conv2d(32, 3, 9),
        )  # fmt: skip

    def forward(self, image: torch.Tensor, example: torch.Tensor) -> torch.Tensor:
        x, y = self.into(image), self.into(example)
        spread, mean = torch.std_mean(y, (2, 3), keepdim=True)
        x = F.instance_norm(x) * spread + mean
        return torch.tanh(self.back(x))


model = Style().eval()
calls = [[torch.randn(8, 3, 256, 256), torch.randn(8, 3, 256, 256)]]
training = False
