"""A step of generation: one query against a long cache, and the best words, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, GROUPS, CACHE, WORDS, BEAMS = 2_048, 16, 4, 2_048, 64_000, 96


class Step(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        head = WIDTH // HEADS
        self.norms = nn.ModuleList((nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)))
        self.query, self.both = nn.Linear(WIDTH, WIDTH, False), nn.Linear(WIDTH, 2 * GROUPS * head, False)
        self.out = nn.Linear(WIDTH, WIDTH, False)
        self.gate, self.up = nn.Linear(WIDTH, 5_632, False), nn.Linear(WIDTH, 5_632, False)
        self.down, self.words = nn.Linear(5_632, WIDTH, False), nn.Linear(WIDTH, WORDS, False)

    def forward(self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.norms[0](x)
        k, v = self.both(y).view(x.shape[0], 2, GROUPS, 1, -1).unbind(1)
        keys, values = torch.cat((keys[:, :, 1:], k), 2), torch.cat((values[:, :, 1:], v), 2)
        q = self.query(y).view(x.shape[0], HEADS, 1, -1)
        y = F.scaled_dot_product_attention(q, keys, values, enable_gqa=True)
        x = x + self.out(y.flatten(1))
        y = self.norms[1](x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        best = self.words(x).float().log_softmax(-1).topk(8, -1)
        return best.values, best.indices


model = Step().to(torch.bfloat16).eval()
cache = (BEAMS, GROUPS, CACHE, WIDTH // HEADS)
calls = [[torch.randn(BEAMS, WIDTH).bfloat16(), torch.randn(cache).bfloat16(), torch.randn(cache).bfloat16()]]
training = False
