"""A small head turns parallelism off around its own products.

Source: https://github.com/pytorch/pytorch/pull/126623
Finds: graph breaks
Cause: set_num_threads|num_threads|thread
Cure: outside|before|once|around|remove|environment
Expects: graphs 1, breaks 0
"""

import torch
from torch import nn


class SmallHead(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        x = self.norm(x)
        torch.set_num_threads(1)
        x = self.fc(x)
        return torch.relu(x)


model, inputs = SmallHead().eval(), (torch.randn(2, 8),)


# Cured
class SmallHead(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return torch.relu(self.fc(self.norm(x)))


torch.manual_seed(0)
torch.set_num_threads(1)
model = SmallHead().eval()
