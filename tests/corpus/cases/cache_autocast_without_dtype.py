r"""A block enters autocast inside the compiled forward, and takes the default dtype.

Source: https://github.com/pytorch/pytorch/pull/191110
Finds: cache bypassed
Cause: autocast|cache
Cure: outside|around|caller|to\(|remove|cast
Expects: graphs 1, breaks 0
Run: --backend inductor
Lacks: detected, cured
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        with torch.autocast("cpu"):
            x = self.proj(x)
        return x.float().relu()


model = Block()
inputs = (torch.randn(4, 8),)


# Cured: the dtype is cast by hand
class Cast(Block):
    def forward(self, x):
        weight, bias = self.proj.weight.bfloat16(), self.proj.bias.bfloat16()
        return nn.functional.linear(x.bfloat16(), weight, bias).float().relu()


cured = Cast()
cured.load_state_dict(model.state_dict())
model = cured
