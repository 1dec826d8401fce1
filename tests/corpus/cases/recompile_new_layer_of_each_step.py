"""A new module is passed in each call, with its own float.

Source: https://github.com/pytorch/pytorch/issues/174541
Finds: recompiles
Cause: differs between instances
Cure: [Cc]ompute `self.gain > 1` once
Expects: recompiles 1
"""

import torch


class Gain(torch.nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.gain = gain

    def forward(self, x):
        return x * self.gain if self.gain > 1 else x


def model(gain, x):
    return gain(x).sin()


x = torch.randn(4)
calls = [(Gain(0.5 * step), x) for step in (1, 2, 3, 4, 5)]
