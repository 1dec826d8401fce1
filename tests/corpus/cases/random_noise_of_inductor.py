r"""A denoiser adds noise, and its samples are compared with those of eager by a seed.

Source: https://github.com/pytorch/pytorch/issues/141645
Finds: random numbers
Cause: random|\bseed|generator|noise
Cure: fallback_random|input|argument|outside
Expects: graphs 1, breaks 0
Run: --backend inductor
"""

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)

    def forward(self, x):
        return self.net(x) + 0.1 * torch.randn(x.shape)


model = Denoiser()
inputs = (torch.randn(4, 8),)

# Cured
torch._inductor.config.fallback_random = True
