r"""Compiled blocks that differ by their name write a summary under it, and compile again for each.

Source: https://github.com/pytorch/pytorch/issues/167596
Finds: recompiles
Cause: (?i)\bname\b|summary
Cure: (?i)outside|after|move|hook|not compiled|remove|uncompiled|disable
Run: --script
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch

summary = {}


class Block(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    @torch.compile(backend="eager")
    def forward(self, x):
        out = torch.sin(x)
        summary[self.name] = 0
        return out


blocks = [Block(f"block_{i}") for i in range(4)]
x = torch.randn(4)
for step in range(2):
    summary.clear()
    for block in blocks:
        block(x)
print(summary)

# Cured
import torch

summary = {}


class Block(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    @torch.compile(backend="eager")
    def compute(self, x):
        return torch.sin(x)

    def forward(self, x):
        out = self.compute(x)
        summary[self.name] = 0
        return out


blocks = [Block(f"block_{i}") for i in range(4)]
x = torch.randn(4)
for step in range(2):
    summary.clear()
    for block in blocks:
        block(x)
print(summary)
