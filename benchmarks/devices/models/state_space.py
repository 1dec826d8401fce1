"""A layer with a depthwise convolution along time and a linear recurrence, trained in float32."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, STATE, LENGTH, BATCH = 512, 8, 256, 16


class Recurrence(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.into = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH)
        self.mix = nn.Conv1d(2 * WIDTH, 2 * WIDTH, 4, groups=2 * WIDTH, padding=3)
        self.rates, self.factors = nn.Linear(2 * WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, 2 * STATE)
        self.decay = nn.Parameter(torch.rand(2 * WIDTH, STATE))
        self.out = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        signal, gate = self.into(self.norm(x)).chunk(2, -1)
        signal = F.silu(self.mix(signal.transpose(1, 2))[..., :LENGTH].transpose(1, 2))
        rate = F.softplus(self.rates(signal)).unsqueeze(-1)
        into, out = self.factors(signal).chunk(2, -1)
        decayed = torch.cumsum(rate * -self.decay, 1)
        added = torch.cumsum(torch.exp(-decayed.clamp(-20, 20)) * rate * into.unsqueeze(2) * signal.unsqueeze(-1), 1)
        state = torch.exp(decayed.clamp(-20, 20)) * added
        return x + self.out((state * out.unsqueeze(2)).sum(-1) * F.silu(gate))


model = nn.Sequential(Recurrence(), Recurrence())
calls = [[torch.randn(BATCH, LENGTH, WIDTH)]] * 8
training = True
