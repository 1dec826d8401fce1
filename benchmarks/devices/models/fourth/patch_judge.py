"""A judge of patches of image pairs: strided convolutions and instance norms, trained in float32."""

import torch
import torch.nn.functional as F
from torch import nn


def unit(channels: int, out: int, stride: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(channels, out, 4, stride, 1), nn.InstanceNorm2d(out, affine=True), nn.LeakyReLU(0.2))


class Judge(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(6, 64, 4, 2, 1), nn.LeakyReLU(0.2))
        self.body = nn.Sequential(unit(64, 128, 2), unit(128, 256, 2), unit(256, 512, 1), nn.Conv2d(512, 1, 4, 1, 1))

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        scores = self.body(self.first(torch.cat((left, right), 1)))
        return F.binary_cross_entropy_with_logits(scores, torch.ones_like(scores))


model = Judge()
calls = [[torch.randn(16, 3, 256, 256), torch.randn(16, 3, 256, 256)]]
training = True
