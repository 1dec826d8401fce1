"""An encoder with learned places and a masked loss, trained in bfloat16 by autocast."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LENGTH, WORDS = 896, 14, 384, 30_000


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList((nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)))
        self.joined, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 3_584), nn.Linear(3_584, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.joined(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        x = self.norms[0](x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)))
        return self.norms[1](x + F.dropout(self.down(F.gelu(self.up(x))), 0.1))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cuda", torch.bfloat16):
            x = self.words(words) + self.places.weight
            scores = self.head(self.blocks(x))[:, ::8]
        target = torch.where(hidden[:, ::8] > 0.5, words[:, ::8], -100)
        return F.cross_entropy(scores.float().flatten(0, 1), target.flatten(), ignore_index=-100)


model = Encoder()
calls = [[torch.randint(0, WORDS, (24, LENGTH)), torch.rand(24, LENGTH)]]
training = True
