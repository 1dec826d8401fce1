"""Sound through strided convolutions, a codebook by nearest neighbours, and back, in float32."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, CODES = 256, 1_024


class Unit(nn.Module):
    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.wide = nn.Conv1d(channels, channels, 7, padding=3 * dilation, dilation=dilation)
        self.thin = nn.Conv1d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.thin(F.elu(self.wide(F.elu(x))))


class Music(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.into = nn.Sequential(
            nn.Conv1d(1, 32, 7, padding=3), Unit(32, 1), nn.ELU(), nn.Conv1d(32, 64, 8, 4, 2),
            Unit(64, 3), nn.ELU(), nn.Conv1d(64, 128, 8, 4, 2), Unit(128, 1), nn.ELU(), nn.Conv1d(128, WIDTH, 8, 4, 2),
        )  # fmt: skip
        self.codes = nn.Parameter(torch.randn(CODES, WIDTH))
        self.back = nn.Sequential(nn.ConvTranspose1d(WIDTH, 128, 8, 4, 2), nn.ELU(), nn.Conv1d(128, 16, 3, padding=1))

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        x = self.into(sound).transpose(1, 2)
        apart = x.pow(2).sum(-1, keepdim=True) - 2 * x @ self.codes.t() + self.codes.pow(2).sum(-1)
        chosen = apart.argmin(-1)
        return self.back(self.codes[chosen].transpose(1, 2))


model = Music().eval()
calls = [[torch.randn(16, 1, 65_536)]]
training = False
