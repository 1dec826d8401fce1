r"""An attention layer takes a fresh seed before its dropout, so that a second pass can repeat it.

Source: https://github.com/pytorch/pytorch/issues/101154
Finds: graph breaks
Cause: \bseed|random
Cure: outside|before|checkpoint|without|remove|move|argument
Expects: graphs 1, breaks 0, recompiles 0, results other
"""

import sys

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 5)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        x = self.linear(x)
        self.attention_seed = int(torch.seed() % sys.maxsize)
        torch.manual_seed(self.attention_seed)
        return self.dropout(x).sum() * 0 + x


model = Attention()
inputs = (torch.randn(2, 5),)


# Cured: the seed is set by who calls
class Seeded(Attention):
    def forward(self, x):
        x = self.linear(x)
        return self.dropout(x).sum() * 0 + x


cured = Seeded()
cured.load_state_dict(model.state_dict())
model = cured
