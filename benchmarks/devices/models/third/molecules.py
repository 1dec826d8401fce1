"""Messages between atoms by distances, with sums to atoms and molecules, trained in float32."""

import torch
import torch.nn.functional as F
from torch import nn

ATOMS, EDGES, WIDTH, MOLECULES = 24_000, 360_000, 96, 1_000


class Molecules(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kinds = nn.Embedding(100, WIDTH)
        self.filters = nn.ModuleList(
            nn.Sequential(nn.Linear(32, WIDTH), nn.Softplus(), nn.Linear(WIDTH, WIDTH)) for _ in range(2)
        )
        self.into = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.out = nn.Linear(WIDTH, 1)

    def forward(self, kinds: torch.Tensor, far: torch.Tensor, ends: torch.Tensor, owner: torch.Tensor) -> torch.Tensor:
        x = self.kinds(kinds)
        centers = torch.linspace(0, 5, 32, device=far.device)
        near = torch.exp(-4 * (far.unsqueeze(1) - centers) ** 2)
        for filters, into in zip(self.filters, self.into, strict=True):
            sent = into(x)[ends[0]] * filters(near)
            x = x + F.silu(torch.zeros_like(x).index_add(0, ends[1], sent))
        energy = self.out(x).squeeze(-1)
        return torch.zeros(MOLECULES, device=x.device).scatter_add(0, owner, energy).pow(2).mean()


model = Molecules()
calls = [
    [
        torch.randint(0, 100, (ATOMS,)),
        5 * torch.rand(EDGES),
        torch.randint(0, ATOMS, (2, EDGES)),
        torch.randint(0, MOLECULES, (ATOMS,)),
    ]
]
training = True
