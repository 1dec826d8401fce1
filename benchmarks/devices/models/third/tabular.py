"""Columns of a table as tokens, with a loss of quantiles, trained in float32."""

import torch
import torch.nn.functional as F
from torch import nn

COLUMNS, WIDTH, ROWS, QUANTILES = 40, 128, 2_048, 9


class Table(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(COLUMNS, WIDTH)), nn.Parameter(torch.zeros(COLUMNS, WIDTH))
        self.kinds = nn.ModuleList(nn.Embedding(500, WIDTH) for _ in range(4))
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH) for _ in range(3))
        self.mix, self.join = nn.Linear(COLUMNS + 4, COLUMNS + 4), nn.Linear(WIDTH, 2 * WIDTH)
        self.back, self.head = nn.Linear(2 * WIDTH, WIDTH), nn.Linear(WIDTH, QUANTILES)

    def forward(self, numbers: torch.Tensor, kinds: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        x = numbers.unsqueeze(-1) * self.weight + self.bias
        x = torch.cat((x, torch.stack([made(kinds[:, at]) for at, made in enumerate(self.kinds)], 1)), 1)
        x = x + self.mix(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        x = x + self.back(F.elu(self.join(self.norms[1](x))))
        wanted = self.head(self.norms[2](x).mean(1))
        apart = target.unsqueeze(1) - wanted
        levels = torch.linspace(0.1, 0.9, QUANTILES, device=apart.device)
        return torch.maximum(levels * apart, (levels - 1) * apart).mean()


model = Table()
calls = [[torch.randn(ROWS, COLUMNS), torch.randint(0, 500, (ROWS, 4)), torch.randn(ROWS)]]
training = True
