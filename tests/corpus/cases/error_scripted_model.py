"""A model that was scripted for an older release is compiled, too.

Source: https://github.com/pytorch/pytorch/pull/177089
Finds: scripted model
Cause: script|jit
Cure: original|eager|without|remove|not script|instead
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


torch.manual_seed(0)
scorer = torch.jit.freeze(torch.jit.script(Scorer().eval()))
scorer = torch.compile(scorer, backend="eager")
print([round(value, 4) for value in scorer(torch.ones(2, 8)).tolist()])

# Cured
import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


torch.manual_seed(0)
scorer = torch.compile(Scorer().eval(), backend="eager")
print([round(value, 4) for value in scorer(torch.ones(2, 8)).tolist()])
