"""Image classes by convolutions in groups, and gates of channels, in bfloat16, channels last."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.into, self.back = nn.Conv2d(channels, out, 1), nn.Conv2d(out, out, 1)
        self.apart = nn.Conv2d(out, out, 3, stride, 1, groups=out // 16)
        self.norms = nn.ModuleList(nn.BatchNorm2d(out) for _ in range(3))
        self.less, self.more = nn.Linear(out, out // 4), nn.Linear(out // 4, out)
        self.short = nn.Conv2d(channels, out, 1, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.norms[0](self.into(x)))
        y = F.relu(self.norms[1](self.apart(y)))
        gate = torch.sigmoid(self.more(F.relu(self.less(y.mean((2, 3))))))
        return F.relu(self.short(x) + self.norms[2](self.back(y * gate[..., None, None])))


body = nn.Sequential(
    nn.Conv2d(3, 32, 3, 2, 1), Block(32, 64, 2), Block(64, 160, 2), Block(160, 160, 1), Block(160, 384, 2)
)
model = nn.Sequential(body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(384, 1_000))
model = model.to(torch.bfloat16).to(memory_format=torch.channels_last).eval()
calls = [[torch.randn(64, 3, 224, 224).bfloat16().to(memory_format=torch.channels_last)]]
training = False
