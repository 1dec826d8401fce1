"""A weight-only layer makes its whole weight of single precision in each forward.

Source: https://github.com/sgl-project/sglang/pull/34305
Finds: weights converted
Cause: weight|convert|dequanti|cast
Cure: once|before|cache|freez|store|convert the (weight|parameter)|outside|load
Expects: graphs 1, breaks 0
Lacks: cured
"""

import torch
from torch import nn


class WeightOnly(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 127, (32, 16), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(32, 1) / 127)

    def forward(self, x):
        return nn.functional.linear(x, self.weight.to(x.dtype) * self.scale)


model = nn.Sequential(WeightOnly(), nn.ReLU())
inputs = (torch.randn(4, 16),)


def confirmed():
    return all(t.is_floating_point() for t in model.state_dict().values())


# Cured: once
class Ready(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.register_buffer("weight", layer.weight.float() * layer.scale)

    def forward(self, x):
        return nn.functional.linear(x, self.weight)


model = nn.Sequential(Ready(model[0]), nn.ReLU())
