"""Small ResNet

Convolutions stay library calls; in eval mode each batch norm is pointwise, so it fuses with the ReLU and the residual
around it.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

group = "Vision"


class ResidualBlock(nn.Module):
    """Two 3 × 3 convolutions with a shortcut, which is a convolution if the shape changes."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)
        self.shortcut = nn.Identity() if stride == 1 else nn.Conv2d(channels_in, channels, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(out)) + self.shortcut(x))


model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1, bias=False),
    nn.BatchNorm2d(16),
    nn.ReLU(),
    ResidualBlock(16, 16, stride=1),
    ResidualBlock(16, 32, stride=2),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(32, 10),
).eval()

inputs = (torch.randn(8, 3, 32, 32),)
