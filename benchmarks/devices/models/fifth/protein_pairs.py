"""Pairs of residues that triangles of pairs and attention along rows change, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS = 128, 4


class Triangle(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.last = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.parts, self.gates = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, pair: torch.Tensor) -> torch.Tensor:
        x = self.norm(pair)
        first, second, whole = torch.sigmoid(self.gates(x)).chunk(3, -1)
        left, right = self.parts(x).chunk(2, -1)
        x = torch.einsum("bikc,bjkc->bijc", left * first, right * second)
        return pair + whole * self.out(self.last(x))


class Rows(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.parts, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, pair: torch.Tensor) -> torch.Tensor:
        parts = self.parts(self.norm(pair)).flatten(0, 1).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(*parts.unbind(0)).transpose(1, 2).flatten(2)
        pair = pair + self.out(x.view(pair.shape))
        return pair + self.down(F.relu(self.up(pair)))


model = nn.Sequential(Triangle(), Rows(), Triangle(), Rows()).to(torch.bfloat16).eval()
calls = [[torch.randn(16, 128, 128, WIDTH).bfloat16()]]
training = False
