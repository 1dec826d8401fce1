"""A layer of attention in shifted windows of 7×7 with a bias of places, trained in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, SIDE, WINDOW = 192, 6, 56, 7


class Layer(nn.Module):
    def __init__(self, shift: int) -> None:
        super().__init__()
        self.shift = shift
        self.norms = nn.ModuleList((nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)))
        self.joined, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.bias = nn.Parameter(torch.zeros(HEADS, WINDOW**2, WINDOW**2))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = SIDE // WINDOW
        y = torch.roll(self.norms[0](x), (-self.shift, -self.shift), (1, 2))
        y = y.unflatten(1, (count, WINDOW)).unflatten(3, (count, WINDOW)).transpose(2, 3).flatten(3, 4).flatten(0, 2)
        q, k, v = self.joined(y).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        scores = torch.softmax(q @ k.transpose(-1, -2) * 0.17 + self.bias, -1)
        y = self.out((scores @ v).transpose(1, 2).flatten(2))
        y = y.view(x.shape[0], count, count, WINDOW, WINDOW, WIDTH).transpose(2, 3).reshape(x.shape)
        x = x + torch.roll(y, (self.shift, self.shift), (1, 2))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


model = nn.Sequential(Layer(0), Layer(3)).to(torch.bfloat16)
calls = [[torch.randn(32, SIDE, SIDE, WIDTH).bfloat16()]] * 4
training = True
