"""Four layers of a causal decoder with rotary positions and gated feed-forward, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LENGTH, WORDS = 2048, 16, 1024, 32_000


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.weight


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = Norm(), Norm()
        self.joined = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate = nn.Linear(WIDTH, 5632, bias=False)
        self.up = nn.Linear(WIDTH, 5632, bias=False)
        self.down = nn.Linear(5632, WIDTH, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        q, k, v = self.joined(self.before(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        q, k = (part * cos + torch.cat((-part[..., 64:], part[..., :64]), -1) * sin for part in (q, k))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.out(mixed)
        y = self.after(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(4))
        self.norm = Norm()
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        angles = torch.outer(torch.arange(LENGTH), 1e4 ** (-torch.arange(0, 128, 2) / 128)).repeat(1, 2)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.words(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.head(self.norm(x))


model = Decoder().to(torch.bfloat16).eval()
calls = [[torch.randint(0, WORDS, (4, LENGTH))]] * 8
training = False
