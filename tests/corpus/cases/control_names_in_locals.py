"""A projection asks `locals()` whether it has flattened its input.

Source: https://github.com/pytorch/pytorch/pull/178819
"""

import torch
from torch import nn


class Projection(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        if x.dim() == 3:
            batch_size, seq_len, dim = x.shape
            x = x.reshape(-1, dim)
        x = self.fc(self.norm(x))
        if "batch_size" in locals():
            x = x.view(batch_size, seq_len, -1)
        return torch.relu(x)


model, inputs = Projection().eval(), (torch.randn(2, 5, 32),)
