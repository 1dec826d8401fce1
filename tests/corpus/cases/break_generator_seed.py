"""A model seeds its own generator in the forward, so that its noise is the same each time.

Source: https://github.com/pytorch/pytorch/pull/178519
Finds: graph breaks
Cause: generator|manual_seed
Cure: outside|before|argument|input|buffer|once|__init__|pass(ed|ing)? (in|the noise)
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)
        self.generator = torch.Generator()

    def forward(self, x):
        x = self.proj(x)
        self.generator.manual_seed(17)
        noise = torch.randn(8, generator=self.generator)
        return x + 0.1 * noise


model = Noisy()
inputs = (torch.randn(3, 8),)


# Cured: drawn before
class Buffered(nn.Module):
    def __init__(self, proj):
        super().__init__()
        self.proj = proj
        self.register_buffer("noise", torch.randn(8, generator=torch.Generator().manual_seed(17)), persistent=False)

    def forward(self, x):
        return self.proj(x) + 0.1 * self.noise


model = Buffered(model.proj)
