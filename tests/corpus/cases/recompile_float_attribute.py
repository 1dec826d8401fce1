"""A float attribute differs between the instances of a layer.

Source: https://github.com/pytorch/pytorch/issues/134954
Finds: recompiles
Cause: gain
Cure: register_buffer|buffer|tensor
Expects: recompiles 0
Run: --backend aot_eager
"""

import torch


class Scaled(torch.nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.gain = gain

    def forward(self, x):
        return (x.sin() + self.gain).sin()


layers = [Scaled(0.5 * step) for step in range(1, 6)]


def model(layer, x):
    return layer(x)


x = torch.randn(3, 4)
calls = [(layer, x) for layer in layers]


# Cured
class Scaled(torch.nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.register_buffer("gain", torch.tensor(gain))

    def forward(self, x):
        return (x.sin() + self.gain).sin()


layers = [Scaled(0.5 * step) for step in range(1, 6)]
calls = [(layer, x) for layer in layers]
