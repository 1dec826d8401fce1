"""A diffusion model's network: convolutions, group norms, attention and upsampling, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, channels: int, out: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList((nn.GroupNorm(16, channels), nn.GroupNorm(16, out)))
        self.first, self.second = nn.Conv2d(channels, out, 3, 1, 1), nn.Conv2d(out, out, 3, 1, 1)
        self.short, self.time = nn.Conv2d(channels, out, 1), nn.Linear(256, out)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        y = self.first(F.silu(self.norms[0](x))) + self.time(time)[:, :, None, None]
        return self.short(x) + self.second(F.silu(self.norms[1](y)))


class Attention(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(16, channels)
        self.joined, self.out = nn.Conv2d(channels, 3 * channels, 1), nn.Conv2d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.joined(self.norm(x)).flatten(2).transpose(1, 2).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(parts[0], parts[1], parts[2]).transpose(1, 2).flatten(2)
        return x + self.out(mixed.transpose(1, 2).unflatten(2, x.shape[2:]))


class Predictor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.start, self.finish = nn.Conv2d(4, 128, 3, 1, 1), nn.Conv2d(128, 4, 3, 1, 1)
        self.high, self.low, self.middle, self.up = Block(128, 128), Block(128, 256), Block(256, 256), Block(384, 128)
        self.attention = Attention(256)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        high = self.high(self.start(x), time)
        low = self.attention(self.low(F.avg_pool2d(high, 2), time))
        low = F.interpolate(self.middle(low, time), scale_factor=2.0)
        return self.finish(F.silu(self.up(torch.cat((low, high), 1), time)))


model = Predictor().to(torch.bfloat16).eval()
calls = [[torch.randn(16, 4, 64, 64, dtype=torch.bfloat16), torch.randn(16, 256, dtype=torch.bfloat16)]] * 8
training = False
