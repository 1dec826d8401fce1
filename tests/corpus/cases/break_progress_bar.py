"""A pipeline shows a progress bar over its denoising steps.

Source: https://github.com/huggingface/diffusers/pull/10098
Finds: graph breaks
Cause: tqdm|progress
Cure: disable|without|remove|outside|range|compile only|move|plain
Expects: graphs 1, breaks 0
"""

import torch
from torch import nn
from tqdm.auto import tqdm


class Pipeline(nn.Module):
    def __init__(self, dim=8, steps=4, progress=True):
        super().__init__()
        self.unet = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, dim))
        self.steps, self.progress = steps, progress

    def progress_bar(self, iterable):
        return tqdm(iterable, disable=not self.progress)

    def forward(self, latents):
        for step in self.progress_bar(range(self.steps)):
            latents = latents - self.unet(latents) / (step + 1)
        return latents


model, inputs = Pipeline().eval(), (torch.randn(2, 8),)


# Cured
class Pipeline(nn.Module):
    def __init__(self, dim=8, steps=4, progress=False):
        super().__init__()
        self.unet = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, dim))
        self.steps, self.progress = steps, progress

    def progress_bar(self, iterable):
        return tqdm(iterable) if self.progress else iterable

    def forward(self, latents):
        for step in self.progress_bar(range(self.steps)):
            latents = latents - self.unet(latents) / (step + 1)
        return latents


torch.manual_seed(0)
model = Pipeline().eval()
