r"""A moving average indexes its parameters by the names of the compiled model.

Source: https://github.com/Vchitect/Latte/issues/81
Run: --script
Finds: names of a compiled module
Cause: _orig_mod
Cure: _orig_mod|\.compile\(\)
Expects: breaks 0, results other
"""

import copy

import torch
from torch import nn

net = nn.Linear(4, 2)
average = dict(copy.deepcopy(net).named_parameters())
model = torch.compile(net, backend="eager")
model(torch.ones(1, 4))
with torch.no_grad():
    for name, weight in model.named_parameters():
        average[name].mul_(0.9).add_(weight, alpha=0.1)

# Cured
import torch
import copy
from torch import nn

net = nn.Linear(4, 2)
average = dict(copy.deepcopy(net).named_parameters())
model = torch.compile(net, backend="eager")
model(torch.ones(1, 4))
with torch.no_grad():
    for name, weight in model._orig_mod.named_parameters():
        average[name].mul_(0.9).add_(weight, alpha=0.1)
