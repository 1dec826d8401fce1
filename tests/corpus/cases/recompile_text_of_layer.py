"""A tuple with an index differs between layers.

Source: https://github.com/pytorch/pytorch/issues/128071
Finds: recompiles
Cause: layer_idx
Cure: in `__init__`
Expects: recompiles 0
"""

import torch


class Mixer(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.layer_idx = (index, "conv")

    def forward(self, x):
        return x.sin() if self.layer_idx[1] == "conv" else x.cos()


layers = [Mixer(index) for index in range(4)]


def model(layer, x):
    return layer(x)


x = torch.randn(4)
calls = [(layer, x) for layer in layers]


# Cured
class Mixer(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.is_conv = True

    def forward(self, x):
        return x.sin() if self.is_conv else x.cos()


layers = [Mixer(index) for index in range(4)]
calls = [(layer, x) for layer in layers]
