"""The position in a key-value cache is a Python integer that decides.

Source: https://github.com/NVIDIA/flashdreams/pull/257
Finds: recompiles
Cause: filled
Cure: [Cc]ompute|outside|pass
Expects: recompiles 1
"""

import torch


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.filled = 2

    def forward(self, x):
        full = self.filled >= 6
        self.filled += 2
        return x.roll(-1) if full else x * 2


model = Cache()
x = torch.randn(8)
calls = [(x,)] * 4


# Cured
class Cache(torch.nn.Module):
    def forward(self, x, full):
        return x.roll(-1) if full else x * 2


model = Cache()
calls = [(x, filled >= 6) for filled in (2, 4, 6, 8)]
