r"""A mask is drawn with probabilities, and some are above one.

Source: https://github.com/pytorch/pytorch/issues/185246
Finds: raised in eager or results differ
Cause: probabilit|bernoulli|check|valid|range|\[0, 1\]
Cure: clamp|check|assert|sigmoid|valid
Expects: graphs 1, breaks 0, results other
Run: --backend inductor
"""

import torch
from torch import nn


class StochasticGate(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.logits = nn.Parameter(torch.linspace(-2.0, 3.0, dim))

    def forward(self, x):
        probabilities = 0.5 + 0.25 * self.logits
        return x * torch.bernoulli(probabilities.expand_as(x))


model, inputs = StochasticGate().eval(), (torch.randn(4, 8),)


# Cured
class StochasticGate(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.logits = nn.Parameter(torch.linspace(-2.0, 3.0, dim))

    def forward(self, x):
        probabilities = torch.clamp(0.5 + 0.25 * self.logits, 0.0, 1.0)
        return x * (torch.rand_like(x) < probabilities).to(x.dtype)


model = StochasticGate().eval()
