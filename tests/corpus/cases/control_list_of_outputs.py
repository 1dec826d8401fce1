"""A pyramid returns a dictionary of its levels, made by a comprehension.

Source: https://github.com/huggingface/pytorch-image-models/issues/1566
"""

import torch
from torch import nn


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.levels = nn.ModuleDict({f"p{i}": nn.Conv2d(3, 4, 3, stride=2**i, padding=1) for i in range(3)})

    def forward(self, x):
        found = {name: torch.relu(level(x)) for name, level in self.levels.items()}
        found["pooled"] = torch.stack([value.mean((2, 3)) for value in found.values()]).sum(0)
        return found


model = Pyramid().eval()
calls = [(torch.randn(1, 3, 16, 16),) for _ in range(2)]
