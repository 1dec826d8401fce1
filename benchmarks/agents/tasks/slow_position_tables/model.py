"""Rotary positions for a key cache: tables of angles are made anew in each forward."""

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width: int = 128, most: int = 4096, base: float = 10000.0) -> None:
        super().__init__()
        self.width, self.most, self.base = width, most, base
        self.scale = nn.Parameter(torch.ones(width))

    def tables(self):
        steps = torch.arange(0, self.width, 2, dtype=torch.float64)
        rates = self.base ** (-steps / self.width)
        angles = torch.arange(self.most, dtype=torch.float64)[:, None] * rates
        return torch.cos(angles).float(), torch.sin(angles).float()

    def forward(self, x, positions):
        cosines, sines = self.tables()
        cosine, sine = cosines[positions], sines[positions]
        even, odd = (x * self.scale)[:, 0::2], (x * self.scale)[:, 1::2]
        total = (cosines.cumsum(0) + sines.cumsum(0)).abs().amax(dim=0)
        turned = torch.cat([even * cosine - odd * sine, even * sine + odd * cosine], dim=1)
        return turned / (1 + total.mean() / self.most)


def build(width: int = 128, most: int = 4096):
    """Return the module and its compiled forward over x, (rows, width), and positions, (rows,)."""
    rotary = Rotary(width, most)
    return rotary, torch.compile(rotary)
