"""Masked autoencoding of patches: the mask and the noise come from torch's generator."""

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.encode = nn.Linear(width, 20)
        self.decode = nn.Linear(20, width)
        self.token = nn.Parameter(torch.zeros(width))

    def forward(self, patches):
        hidden = torch.rand(patches.shape[:2]) < 0.6
        noise = 0.1 * torch.randn_like(patches)
        seen = torch.where(hidden.unsqueeze(-1), self.token, patches + noise)
        rebuilt = self.decode(torch.nn.functional.gelu(self.encode(seen)))
        error = (rebuilt - patches).square().mean(dim=-1)
        return (error * hidden).sum() / hidden.sum().clamp_min(1)


def prepare(width: int = 12):
    """Return the model and its compiled loss of patches, (rows, patches, width)."""
    model = Autoencoder(width)
    return model, torch.compile(model)
