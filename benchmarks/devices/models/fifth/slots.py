"""Slots that compete for the places of an image in three rounds, trained in float32."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, SLOTS, PLACES = 128, 8, 1_024


class Slots(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.randn(SLOTS, WIDTH))
        self.places = nn.Parameter(torch.randn(PLACES, WIDTH) * 0.02)
        self.into = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.query, self.both = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.left, self.right = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Sequential(nn.Linear(WIDTH, 256), nn.ReLU(), nn.Linear(256, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        k, v = self.both(self.into(x + self.places)).chunk(2, -1)
        slots = self.start.expand(x.shape[0], -1, -1)
        for _ in range(3):
            scores = self.query(F.layer_norm(slots, (WIDTH,))) @ k.transpose(1, 2) * WIDTH**-0.5
            parts = scores.softmax(1) + 1e-8
            seen = (parts / parts.sum(-1, keepdim=True)) @ v
            one, two, three = self.left(seen).chunk(3, -1)
            old, kept, new = self.right(slots).chunk(3, -1)
            gate = torch.sigmoid(two + kept)
            slots = gate * slots + (1 - gate) * torch.tanh(three + torch.sigmoid(one + old) * new)
            slots = slots + self.out(F.layer_norm(slots, (WIDTH,)))
        return F.mse_loss(parts.transpose(1, 2) @ slots, x)


model = Slots()
calls = [[torch.randn(64, PLACES, WIDTH)]]
training = True
