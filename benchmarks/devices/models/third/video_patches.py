"""Patches of a film with attention over space and then over time, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, FRAMES, SIDE = 640, 10, 8, 14


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.joined, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.joined(self.norm(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.space, self.time = Attention(), Attention()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2_560), nn.Linear(2_560, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, frames, places, width = x.shape
        x = x + self.space(x.flatten(0, 1)).view(x.shape)
        y = self.time(x.transpose(1, 2).flatten(0, 1)).view(batch, places, frames, width)
        x = x + y.transpose(1, 2)
        return x + self.down(F.gelu(self.up(self.norm(x)), approximate="tanh"))


class Film(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv3d(3, WIDTH, (2, 16, 16), (2, 16, 16))
        self.layers = nn.Sequential(Layer(), Layer())
        self.head = nn.Linear(WIDTH, 400)

    def forward(self, film: torch.Tensor) -> torch.Tensor:
        x = self.patches(film).flatten(3).permute(0, 2, 3, 1)
        return self.head(self.layers(x).mean((1, 2)))


model = Film().to(torch.bfloat16).eval()
calls = [[torch.randn(8, 3, 2 * FRAMES, 16 * SIDE, 16 * SIDE).bfloat16()]]
training = False
