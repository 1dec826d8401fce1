"""Few latents that read many inputs by attention, and then each other, trained in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, LATENTS, HEADS = 512, 128, 8


class Read(nn.Module):
    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList((nn.LayerNorm(WIDTH), nn.LayerNorm(inputs), nn.LayerNorm(WIDTH)))
        self.query, self.both, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(inputs, 2 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.body = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        k, v = self.both(self.norms[1](inputs)).chunk(2, -1)
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in (self.query(self.norms[0](x)), k, v))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.body(self.norms[2](x))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(LATENTS, WIDTH))
        self.read, self.think = Read(264), nn.ModuleList(Read(WIDTH) for _ in range(3))
        self.head = nn.Linear(WIDTH, 100)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        x = self.read(self.latents.expand(inputs.shape[0], -1, -1), inputs)
        for layer in self.think:
            x = layer(x, x)
        return self.head(x.mean(1)).float().log_softmax(-1)[:, 0].neg().mean()


model = Model().to(torch.bfloat16)
calls = [[torch.randn(32, 2_304, 264).bfloat16()]]
training = True
