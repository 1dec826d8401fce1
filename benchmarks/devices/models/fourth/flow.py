"""A normalizing flow: affine couplings whose halves change places, trained by likelihood in float32."""

import torch
from torch import nn

WIDTH, HIDDEN, STEPS = 128, 768, 6


class Coupling(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(WIDTH // 2, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH)
        )

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        kept, changed = x.chunk(2, -1)
        scale, shift = self.net(kept).chunk(2, -1)
        scale = torch.tanh(scale)
        return torch.cat((changed * scale.exp() + shift, kept), -1), scale.sum(-1)


class Flow(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = nn.ModuleList(Coupling() for _ in range(STEPS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        volume = torch.zeros_like(x[:, 0])
        for step in self.steps:
            x, part = step(x)
            volume = volume + part
        return (0.5 * x.pow(2).sum(-1) - volume).mean()


model = Flow()
calls = [[torch.randn(16_384, WIDTH)]]
training = True
