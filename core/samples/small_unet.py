"""Small U-Net

A U-Net as in diffusion denoisers: downsampling, upsampling and a skip connection. Group norm and SiLU fuse
around the convolutions; upsampling and concatenation become index arithmetic inside a kernel.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

group = "Vision"

CHANNELS = 32


class ConvBlock(nn.Module):
    """Group norm, SiLU, and a 3 × 3 convolution."""

    def __init__(self, channels_in: int, channels: int, stride: int = 1) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8, channels_in)
        self.conv = nn.Conv2d(channels_in, channels, 3, stride, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.conv(F.silu(self.norm(x)))
        return out


class SmallUNet(nn.Module):
    """A U-Net from an image to an image of the same size."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, CHANNELS, 3, padding=1)
        self.down = ConvBlock(CHANNELS, 2 * CHANNELS, stride=2)
        self.middle = ConvBlock(2 * CHANNELS, 2 * CHANNELS)
        self.up = ConvBlock(3 * CHANNELS, CHANNELS)
        self.head = nn.Conv2d(CHANNELS, 3, 1)

    def forward(self, image: Tensor) -> Tensor:
        skip = self.stem(image)
        low = self.down(skip)
        low = low + self.middle(low)
        joined = torch.cat((F.interpolate(low, scale_factor=2.0, mode="nearest"), skip), dim=1)
        out: Tensor = self.head(self.up(joined))
        return out


model = SmallUNet().eval()
inputs = (torch.randn(2, 3, 32, 32),)
