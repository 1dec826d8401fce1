"""A cached helper asks the system for its name in each forward.

Source: https://github.com/ROCm/aiter/pull/2688
Finds: graph breaks
Cause: uname|gethostname|platform|socket|cannot (be )?trac|not trac|builtin|C function|skipped
Cure: outside|once|import|__init__|module.level|constant|before|assume_constant_result|attribute
Expects: graphs 1, breaks 0, recompiles 0
"""

import functools
import os

import torch
from torch import nn


@functools.lru_cache(maxsize=1)
def architecture():
    return os.uname().machine


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        x = self.proj(x)
        pack = 2 if architecture() == "gfx942" else 1
        return torch.relu(x * pack)


model = Packed()
inputs = (torch.randn(3, 8),)


# Cured: asked when the module is built
class Known(Packed):
    def __init__(self):
        super().__init__()
        self.pack = 2 if architecture() == "gfx942" else 1

    def forward(self, x):
        return torch.relu(self.proj(x) * self.pack)


cured = Known()
cured.load_state_dict(model.state_dict())
model = cured
