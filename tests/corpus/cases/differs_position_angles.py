"""Angles of positions are computed in bfloat16, since the model was converted.

Source: https://github.com/EleutherAI/gpt-neox/issues/1003
Finds: positions in 16 bits
Cause: bfloat16|16 bits|precision
Cure: float32
Expects: graphs 1, breaks 0, results other
"""

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / 10000 ** (torch.arange(0, dim, 2).float() / dim))

    def forward(self, x):
        places = torch.arange(x.shape[1]).type_as(self.inv_freq)
        angles = torch.outer(places, self.inv_freq)
        return x * torch.cat((angles.cos(), angles.sin()), -1)


model = Rotary(16).bfloat16()
inputs = (torch.ones(1, 400, 16, dtype=torch.bfloat16),)


def confirmed():
    place = torch.tensor(333.0)
    return (model(*inputs)[0, 333, 0].float() - place.cos()).abs() < 0.01


# Cured
class Exact(Rotary):
    def forward(self, x):
        angles = torch.outer(torch.arange(x.shape[1], dtype=torch.float32), self.inv_freq)
        return (x * torch.cat((angles.cos(), angles.sin()), -1)).to(x.dtype)


model = Exact(16)
