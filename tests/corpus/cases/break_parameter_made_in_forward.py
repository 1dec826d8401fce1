"""A prompt's parameter is made in the forward, each time anew.

Source: https://github.com/pytorch/pytorch/issues/171204
Finds: graph breaks at line 21
Cause: Parameter
Cure: __init__|outside|before|once|when the module is built|constructor|register_parameter
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Prompted(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        x = self.proj(x)
        weight = nn.Parameter(torch.ones(4, 4))
        return x @ weight + x


model = Prompted()
inputs = (torch.randn(3, 4),)


# Cured
class Kept(Prompted):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 4))

    def forward(self, x):
        x = self.proj(x)
        return x @ self.weight + x


cured = Kept()
cured.proj = model.proj
model = cured
