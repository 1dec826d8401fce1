"""Colours of places by tables that a hash of each place's corners reads, in float16."""

import torch
from torch import nn

LEVELS, TABLE, FEATURES = 8, 2**17, 2


class Colours(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.Parameter(torch.randn(LEVELS * TABLE, FEATURES))
        self.register_buffer("sizes", torch.tensor([16 * 1.6**level for level in range(LEVELS)]))
        self.register_buffer("starts", torch.arange(LEVELS) * TABLE)
        corners = [[index >> bit & 1 for bit in range(3)] for index in range(8)]
        self.register_buffer("corners", torch.tensor(corners))
        self.body = nn.Sequential(
            nn.Linear(LEVELS * FEATURES, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)
        )

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        at = places[:, None] * self.sizes[:, None]
        low = at.floor()
        near = (at - low)[:, :, None]
        x, y, z = (low.long()[:, :, None] + self.corners).unbind(-1)
        rows = ((x ^ (y * 2_654_435) ^ (z * 805_459)) & (TABLE - 1)) + self.starts[:, None]
        parts = torch.where(self.corners > 0, near, 1 - near).prod(-1)
        found = (self.tables[rows] * parts[..., None].to(self.tables.dtype)).sum(2)
        return torch.sigmoid(self.body(found.flatten(1)))


model = Colours().eval()
model.tables.data, model.body = model.tables.data.half(), model.body.half()
calls = [[torch.rand(262_144, 3)]]
training = False
