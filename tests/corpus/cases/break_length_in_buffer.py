r"""A rotary embedding keeps the length of its table in a buffer, and reads it in each call.

Source: https://github.com/lucidrains/rotary-embedding-torch/pull/38
Finds: graph breaks
Cause: item\(\)
Cure: Python|int\b|buffer|shape|plain
Expects: breaks 0
"""

import torch


class Rotary(torch.nn.Module):
    def __init__(self, size=8, longest=32):
        super().__init__()
        rates = 1.0 / 100 ** (torch.arange(size // 2) / size)
        self.register_buffer("angles", torch.arange(longest)[:, None] * rates)
        self.register_buffer("known", torch.tensor(longest))

    def forward(self, rows):
        steps = rows.shape[-2]
        if steps <= self.known.item():
            angles = self.angles[:steps]
        else:
            angles = torch.zeros(steps, self.angles.shape[1])
        even, odd = rows[..., ::2], rows[..., 1::2]
        return even * angles.cos() - odd * angles.sin()


model, inputs = Rotary(), (torch.randn(2, 6, 8),)

# Cured


class Table(Rotary):
    def forward(self, rows):
        steps = rows.shape[-2]
        angles = self.angles[:steps] if steps <= self.angles.shape[0] else torch.zeros(steps, self.angles.shape[1])
        even, odd = rows[..., ::2], rows[..., 1::2]
        return even * angles.cos() - odd * angles.sin()


model = Table()
