"""A checkpointed block notes how much memory the process has used.

Source: https://github.com/pytorch/pytorch/issues/139989
Finds: graph breaks or not compiled: given up
Cause: getrusage|resource|checkpoint|memory
Cure: outside|remove|before|move|once
Expects: graphs 1, breaks 0
"""

import resource

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.peak_memory = []

    def forward(self, x):
        x = self.norm(x)
        self.peak_memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return self.mlp(x)


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.block = Block(dim)
        self.head = nn.Linear(dim, 4)

    def forward(self, x):
        x = x + checkpoint(self.block, x, use_reentrant=False)
        return self.head(x)


training = True
model, inputs = Encoder(), (torch.randn(2, 6, 16),)


# Cured
class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return self.mlp(self.norm(x))


torch.manual_seed(0)
model = Encoder()
