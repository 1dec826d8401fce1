"""Colours of rays through a field: sines of places, a deep network, sums of light, in float16."""

import torch
import torch.nn.functional as F
from torch import nn

BANDS, WIDTH, SAMPLES = 10, 256, 64


class Field(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        places = 6 * BANDS
        self.first = nn.ModuleList(nn.Linear(places if not index else WIDTH, WIDTH) for index in range(4))
        self.second = nn.ModuleList(nn.Linear(WIDTH + places if not index else WIDTH, WIDTH) for index in range(4))
        self.light, self.colour = (
            nn.Linear(WIDTH, 1),
            nn.Sequential(nn.Linear(WIDTH, 128), nn.ReLU(), nn.Linear(128, 3)),
        )

    def forward(self, start: torch.Tensor, ray: torch.Tensor) -> torch.Tensor:
        far = torch.linspace(2, 6, SAMPLES, device=ray.device, dtype=ray.dtype)
        at = start[:, None] + ray[:, None] * far[:, None]
        angles = at[..., None] * (2.0 ** torch.arange(BANDS, device=ray.device)).to(ray.dtype)
        places = torch.cat((angles.sin(), angles.cos()), -1).flatten(2)
        x = places
        for layer in self.first:
            x = F.relu(layer(x))
        x = torch.cat((x, places), -1)
        for layer in self.second:
            x = F.relu(layer(x))
        opaque = 1 - torch.exp(-F.softplus(self.light(x).float()) * 0.06)
        left = torch.cumprod(torch.cat((torch.ones_like(opaque[:, :1]), 1 - opaque[:, :-1]), 1), 1)
        return (left * opaque * torch.sigmoid(self.colour(x).float())).sum(1)


model = Field().half().eval()
calls = [[torch.randn(4_096, 3).half(), torch.randn(4_096, 3).half()]]
training = False
