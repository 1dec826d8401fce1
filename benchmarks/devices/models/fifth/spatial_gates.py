"""Words by layers that gate each word with a mix of all others, trained in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, INSIDE = 256, 512, 3_072


class Gates(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(WIDTH), nn.LayerNorm(INSIDE // 2)
        self.up, self.down, self.mix = nn.Linear(WIDTH, INSIDE), nn.Linear(INSIDE // 2, WIDTH), nn.Linear(WORDS, WORDS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept, gate = F.gelu(self.up(self.norm(x))).chunk(2, -1)
        gate = self.mix(self.inner(gate).transpose(1, 2)).transpose(1, 2)
        return x + self.down(kept * gate)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.body = nn.Embedding(16_000, WIDTH), nn.Sequential(*(Gates() for _ in range(3)))

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.body(self.words(words))
        scores = (x[:, ::8] @ self.words.weight.T).float()
        return F.cross_entropy(scores.flatten(0, 1), words[:, ::8].flatten())


model = Model().to(torch.bfloat16)
calls = [[torch.randint(16_000, (64, WORDS))]]
training = True
