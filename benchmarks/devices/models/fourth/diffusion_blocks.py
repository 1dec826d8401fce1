"""Transformer blocks of image diffusion, modulated by a time and a class, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS = 1_152, 16


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.modulate = nn.Linear(WIDTH, 6 * WIDTH)
        self.parts, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor, about: torch.Tensor) -> torch.Tensor:
        one, two, three, four, five, six = self.modulate(F.silu(about)).unsqueeze(1).chunk(6, -1)
        y = F.layer_norm(x, (WIDTH,)) * (1 + one) + two
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.parts(y).chunk(3, -1))
        x = x + three * self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        y = F.layer_norm(x, (WIDTH,)) * (1 + four) + five
        return x + six * self.down(F.gelu(self.up(y), approximate="tanh"))


class Diffusion(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches, self.time = nn.Linear(16, WIDTH), nn.Linear(256, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.last = nn.Linear(WIDTH, 32)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        angles = time[:, None] * torch.exp(-torch.arange(128, device=x.device) / 16)
        about = self.time(torch.cat((angles.cos(), angles.sin()), -1).to(x.dtype))
        x = self.patches(x)
        for block in self.blocks:
            x = block(x, about)
        return self.last(F.layer_norm(x, (WIDTH,)))


model = Diffusion().to(torch.bfloat16).eval()
calls = [[torch.randn(32, 256, 16).bfloat16(), torch.rand(32)]]
training = False
