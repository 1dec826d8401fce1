"""A float attribute is the key of a dictionary: one compilation an instance, then the limit.

Source: https://github.com/pytorch/pytorch/issues/171593
Finds: not compiled: over the limit or near the recompile limit or recompiles
Cause: key|level
Cure: `__init__`|[Ll]ook it up
Expects: recompiles 0, skipped 0
Not: [Ss]tore it in a tensor
"""

import torch

table = {}


class Shift(torch.nn.Module):
    def __init__(self, level):
        super().__init__()
        self.level = level
        table[level] = torch.ones(4) * level

    def forward(self, x):
        return x + table[self.level]


shifts = [Shift(float(step)) for step in range(1, 11)]


def model(shift, x):
    return shift(x)


x = torch.randn(3, 4)
calls = [(shift, x) for shift in shifts]


# Cured
class Shift(torch.nn.Module):
    def __init__(self, level):
        super().__init__()
        self.register_buffer("shift", torch.ones(4) * level)

    def forward(self, x):
        return x + self.shift


shifts = [Shift(float(step)) for step in range(1, 11)]
calls = [(shift, x) for shift in shifts]
