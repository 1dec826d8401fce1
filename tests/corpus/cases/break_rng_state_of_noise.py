"""A denoising step draws its noise without touching the generator of the caller.

Source: https://github.com/pytorch/pytorch/pull/109410
Finds: graph breaks
Cause: rng|random|generator|fork|state
Cure: argument|pass|outside|before
Expects: graphs 1, breaks 0, results other
"""

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, dim))

    def forward(self, latents):
        predicted = self.net(latents)
        with torch.random.fork_rng(devices=[]):
            noise = torch.randn_like(predicted)
        return latents - 0.1 * predicted + 0.01 * noise


model, inputs = Denoiser().eval(), (torch.randn(4, 16),)


# Cured
class Denoiser(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, dim))

    def forward(self, latents, noise):
        return latents - 0.1 * self.net(latents) + 0.01 * noise


torch.manual_seed(0)
model = Denoiser().eval()
with torch.random.fork_rng(devices=[]):
    noise = torch.randn(4, 16)
inputs = (inputs[0], noise)
