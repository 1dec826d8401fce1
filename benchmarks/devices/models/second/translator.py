"""Two layers of a decoder that reads an encoder's result, with heads of 80, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LENGTH, SOURCE = 960, 12, 384, 640


class Mixer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.pair = nn.Linear(WIDTH, 2 * WIDTH)

    def forward(self, x: torch.Tensor, source: torch.Tensor, causal: bool) -> torch.Tensor:
        q = self.query(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        k, v = self.pair(source).unflatten(-1, (2, HEADS, -1)).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.own, self.across = Mixer(), Mixer()
        self.up, self.down = nn.Linear(WIDTH, 3_840), nn.Linear(3_840, WIDTH)

    def forward(self, x: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        y = self.norms[0](x)
        x = x + self.own(y, y, True)
        x = x + self.across(self.norms[1](x), source, False)
        return x + self.down(F.relu(self.up(self.norms[2](x))))


class Translator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.head = nn.Linear(WIDTH, 6_000)

    def forward(self, x: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x, source)
        return torch.log_softmax(self.head(x).float(), -1)


model = Translator().to(torch.bfloat16).eval()
calls = [[torch.randn(16, LENGTH, WIDTH).bfloat16(), torch.randn(16, SOURCE, WIDTH).bfloat16()]] * 4
training = False
