"""Attention among the members of sets with relative distances as bias, in float16, with gated units."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, MEMBERS, SETS = 768, 12, 200, 48


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList((nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)))
        self.joined, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.near = nn.Linear(3, HEADS)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        apart = (places.unsqueeze(2) - places.unsqueeze(1)).abs()
        bias = self.near(apart).permute(0, 3, 1, 2)
        q, k, v = self.joined(self.norms[0](x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        scores = torch.softmax(q @ k.transpose(-1, -2) * 0.125 + bias, -1)
        x = x + self.out((scores @ v).transpose(1, 2).flatten(2))
        value, gate = self.up(self.norms[1](x)).chunk(2, -1)
        return x + self.down(value * F.mish(gate))


class Sets(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList((Layer(), Layer()))

    def forward(self, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x, places)
        return x.amax(1)


model = Sets().half().eval()
calls = [[torch.randn(SETS, MEMBERS, WIDTH).half(), torch.rand(SETS, MEMBERS, 3).half()]]
training = False
