"""A speech encoder's start and one block: convolutions along time, gates and attention, in float16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS = 512, 8


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.joined, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.into, self.mix = nn.Linear(WIDTH, 2 * WIDTH), nn.Conv1d(WIDTH, WIDTH, 15, padding=7, groups=WIDTH)
        self.scale, self.back = nn.BatchNorm1d(WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2_048), nn.Linear(2_048, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + 0.5 * self.down(F.silu(self.up(self.norms[0](x))))
        q, k, v = self.joined(self.norms[1](x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        y = F.glu(self.into(self.norms[2](x)), -1).transpose(1, 2)
        return x + self.back(F.silu(self.scale(self.mix(y))).transpose(1, 2))


class Speech(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv1d(80, WIDTH, 3, 2, 1), nn.Conv1d(WIDTH, WIDTH, 3, 2, 1)
        self.blocks = nn.Sequential(Block(), Block())

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        x = F.gelu(self.second(F.gelu(self.first(sound)))).transpose(1, 2)
        return self.blocks(x)


model = Speech().to(torch.float16).eval()
calls = [[torch.randn(16, 80, 3_000).half()]] * 4
training = False
