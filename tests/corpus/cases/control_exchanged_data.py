"""The data of one tensor becomes the data of another.

Source: https://github.com/pytorch/pytorch/issues/113030
"""

import torch


class Averaged(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("average", torch.zeros(3))

    @torch.no_grad()
    def forward(self, rows):
        self.average.data = self.average.data * 0.9 + self.weight.data * 0.1
        return rows * self.average


model = Averaged()
inputs = (torch.arange(6.0).reshape(2, 3),)
