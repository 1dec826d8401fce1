r"""A part is frozen by the beginning of its parameters' names, after the model was compiled.

Source: https://github.com/pytorch/pytorch/issues/101107
Run: --script
Finds: names of a compiled module
Cause: _orig_mod
Cure: _orig_mod|\.compile\(\)|before
Expects: graphs 1, breaks 0, results other
"""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.encoder(x).relu())


torch.manual_seed(0)
model = torch.compile(Tagger(), backend="eager")
for name, weight in model.named_parameters():
    if name.startswith("encoder"):
        weight.requires_grad = False
model(torch.ones(2, 4)).sum().backward()


def confirmed():
    return model.encoder.weight.grad is None


# Cured
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.encoder(x).relu())


torch.manual_seed(0)
model = torch.compile(Tagger(), backend="eager")
for name, weight in model._orig_mod.named_parameters():
    if name.startswith("encoder"):
        weight.requires_grad = False
model(torch.ones(2, 4)).sum().backward()


def confirmed():
    return model.encoder.weight.grad is None
