r"""A sliding cache counts its tokens in a Python integer, which branches read.

Source: https://github.com/tenstorrent/tt-xla/pull/3688
Finds: recompiles or near the recompile limit or not compiled: over the limit
Cause: (?i)cumulative_length|integer|\bint\b|attribute
Cure: (?i)tensor|buffer|allow_unspec|argument
Expects: graphs 1, breaks 0, recompiles 0
Lacks: cured
"""

import torch


class SlidingLayer(torch.nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.size = size
        self.cumulative_length = 0
        self.register_buffer("keys", torch.zeros(size, 4))

    def forward(self, key):
        if self.cumulative_length >= self.size:
            keys = torch.cat([self.keys[1:], key])
        else:
            keys = torch.where((torch.arange(self.size) == self.cumulative_length)[:, None], key, self.keys)
        self.keys.copy_(keys)
        self.cumulative_length += 1
        return keys.sum(dim=0)


model = SlidingLayer()
calls = [(torch.randn(1, 4),) for step in range(6)]
inputs = calls[0]

# Cured


class Cured(SlidingLayer):
    def __init__(self, size=8):
        super().__init__(size)
        self.register_buffer("length", torch.tensor(0))

    def forward(self, key):
        shifted = torch.cat([self.keys[1:], key])
        placed = torch.where((torch.arange(self.size) == self.length)[:, None], key, self.keys)
        keys = torch.where(self.length >= self.size, shifted, placed)
        self.keys.copy_(keys)
        self.length.add_(1)
        return keys.sum(dim=0)


model = Cured()
