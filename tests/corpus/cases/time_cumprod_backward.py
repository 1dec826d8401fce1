"""A renderer's transmittance is a cumulative product, and it is trained.

Source: https://github.com/pytorch/pytorch/issues/136263
Finds: slower than eager or fallbacks or first call
Cause: cumprod|cumulative|slower
Cure: cumsum|log|exp|eager|custom|disable
Expects: graphs 1, breaks 0, results other
Run: --backend inductor
Lacks: explained, cured
"""

import torch
from torch import nn


class Renderer(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.density = nn.Linear(dim, 1)
        self.color = nn.Linear(dim, 3)

    def forward(self, samples):
        alpha = 0.5 * torch.sigmoid(self.density(samples)).squeeze(-1)
        transmittance = torch.cumprod(1 - alpha, dim=1)
        weights = alpha * transmittance
        return (weights.unsqueeze(-1) * self.color(samples)).sum(1)


training = True
model, inputs = Renderer(), (torch.randn(64, 512, 8),)


# Cured
class Renderer(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.density = nn.Linear(dim, 1)
        self.color = nn.Linear(dim, 3)

    def forward(self, samples):
        alpha = 0.5 * torch.sigmoid(self.density(samples)).squeeze(-1)
        transmittance = torch.cumsum(torch.log1p(-alpha), dim=1).exp()
        weights = alpha * transmittance
        return (weights.unsqueeze(-1) * self.color(samples)).sum(1)


torch.manual_seed(0)
model = Renderer()
