"""A detached copy is returned next to slices that need their gradients.

Source: https://github.com/pytorch/pytorch/pull/194479
Run: --backend aot_eager
"""

import torch


class Waves(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(8))

    def forward(self, rows):
        waves = torch.sin(self.weight * rows)
        return waves[0:4], waves[4:8], waves.detach()


model, inputs = Waves(), (torch.ones(8),)
training = True
