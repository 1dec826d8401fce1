"""A function draws its weights in each call, and is compared with eager mode under the same seed.

Source: https://github.com/pytorch/pytorch/issues/145219
Finds: random numbers
Cause: random|seed
Cure: fallback_random|outside|argument|input|__init__|once
Expects: graphs 1
Run: --backend inductor
"""

import torch
import torch.nn.functional as F


def model(x):
    weight = torch.randn(4, 8)
    return F.max_pool1d(F.linear(x, weight).unsqueeze(0), 2)


inputs = (torch.linspace(-1, 1, 16).view(2, 8),)

# Cured
torch_compile = {"options": {"fallback_random": True}}
