"""Papers that cite each other: attention over edges by a softmax of each paper, in float32 training."""

import torch
import torch.nn.functional as F
from torch import nn

PAPERS, EDGES, HEADS, WIDTH = 20_000, 160_000, 4, 32


class Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.values = nn.Linear(width, HEADS * WIDTH, bias=False)
        self.cited, self.citing = (
            nn.Parameter(torch.randn(HEADS, WIDTH) * 0.1),
            nn.Parameter(torch.randn(HEADS, WIDTH) * 0.1),
        )

    def forward(self, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        values = self.values(x).unflatten(-1, (HEADS, WIDTH))
        scores = F.leaky_relu((values * self.citing).sum(-1)[source] + (values * self.cited).sum(-1)[target], 0.2)
        parts = torch.exp(scores.clamp(max=20))
        whole = torch.zeros_like(values[..., 0]).index_add(0, target, parts)
        sums = torch.zeros_like(values).index_add(0, target, values[source] * parts[..., None])
        return F.elu((sums / (whole[..., None] + 1e-9)).flatten(1))


class Citations(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList((Attention(256), Attention(HEADS * WIDTH)))
        self.head = nn.Linear(HEADS * WIDTH, 40)

    def forward(self, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x, source, target)
        return self.head(x).log_softmax(-1)[:, 0].neg().mean()


model = Citations()
calls = [[torch.randn(PAPERS, 256), torch.randint(PAPERS, (EDGES,)), torch.randint(PAPERS, (EDGES,))]]
training = True
