"""Layers that are compiled one by one have a hook each.

Source: https://github.com/pytorch/torchtitan/pull/2130
"""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x).relu()


def doubled(module, args, kwargs):
    return (args[0] * 2,), kwargs


layers = [Layer() for _ in range(4)]
for layer in layers:
    layer.linear.register_forward_pre_hook(doubled, with_kwargs=True)


def model(layer, x):
    return layer(x)


calls = [(layer, torch.ones(2, 4)) for layer in layers]
