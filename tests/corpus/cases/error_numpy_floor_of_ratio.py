r"""A speech model rounds a number of steps with NumPy before it loops.

Source: https://github.com/pytorch/pytorch/issues/141258
Finds: raised at run time or not compiled: failed
Cause: numpy|np\.|round|scalar|fake
Cure: math\.floor|math|python|outside|before
Expects: graphs 1, breaks 0
"""

import numpy as np
import torch
from torch import nn


class CoarseDecoder(nn.Module):
    def __init__(self, dim=16, semantic_rate=49.9, coarse_rate=75.0, codebooks=2):
        super().__init__()
        self.semantic_to_coarse = coarse_rate / semantic_rate * codebooks
        self.codebooks = codebooks
        self.embed = nn.Embedding(64, dim)
        self.head = nn.Linear(dim, 64)

    def forward(self, semantic):
        x = self.embed(semantic)
        n_steps = int(round(np.floor(semantic.shape[1] * self.semantic_to_coarse / self.codebooks) * self.codebooks))
        x = nn.functional.interpolate(x.transpose(1, 2), size=n_steps).transpose(1, 2)
        return self.head(x)


model, inputs = CoarseDecoder().eval(), (torch.randint(64, (2, 12)),)

# Cured
import math


class CoarseDecoder(nn.Module):
    def __init__(self, dim=16, semantic_rate=49.9, coarse_rate=75.0, codebooks=2):
        super().__init__()
        self.semantic_to_coarse = coarse_rate / semantic_rate * codebooks
        self.codebooks = codebooks
        self.embed = nn.Embedding(64, dim)
        self.head = nn.Linear(dim, 64)

    def forward(self, semantic):
        x = self.embed(semantic)
        n_steps = math.floor(semantic.shape[1] * self.semantic_to_coarse / self.codebooks) * self.codebooks
        x = nn.functional.interpolate(x.transpose(1, 2), size=n_steps).transpose(1, 2)
        return self.head(x)


torch.manual_seed(0)
model = CoarseDecoder().eval()
