"""Noise is added between layers.

Source: https://github.com/pytorch/pytorch/issues/172206
Finds: random numbers or results differ
Cause: random
Cure: fallback_random
Expects: breaks 0
Run: --backend inductor
"""

import torch


class Noisy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(6, 6)

    def forward(self, x):
        x = self.layer(x) + 0.1 * torch.randn_like(x)
        return torch.where(torch.rand(6) > 0.5, x, x.sin())


model = Noisy()
inputs = (torch.ones(4, 6),)


# Cured
torch.manual_seed(0)
model = Noisy()
torch._inductor.config.fallback_random = True
