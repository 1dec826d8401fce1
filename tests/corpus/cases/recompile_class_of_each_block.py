"""A wrapper gives each block a class of its own, so that no block can use what was compiled for another.

Source: https://github.com/pytorch/pytorch/pull/134135
Finds: recompiles or near the recompile limit or not compiled: over the limit
Cause: type|class
Cure: same class|one class|shar|cache|reuse|once|whole|isolate_recompiles
Expects: recompiles 0
Run: --script
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return x + self.linear(x).relu()


def shard(block):
    block.__class__ = type(f"Sharded{type(block).__name__}", (type(block),), {"is_sharded": True})
    block.compile(backend="eager")
    return block


blocks = [shard(Block()) for _ in range(5)]
x = torch.ones(2, 8)
with torch.no_grad():
    for block in blocks:
        x = block(x)

# Cured
import functools

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return x + self.linear(x).relu()


@functools.cache
def sharded(cls):
    return type(f"Sharded{cls.__name__}", (cls,), {"is_sharded": True})


def shard(block):
    block.__class__ = sharded(type(block))
    block.compile(backend="eager")
    return block


blocks = [shard(Block()) for _ in range(5)]
x = torch.ones(2, 8)
with torch.no_grad():
    for block in blocks:
        x = block(x)
