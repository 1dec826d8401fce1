"""A hook that collects activations is registered after the first call, and collects nothing.

Source: https://github.com/pytorch/pytorch/issues/117758
Run: --script
Finds: hook after the first call
Cause: hook
Cure: before the first call|reset|skip_nnmodule_hook_guards
Expects: breaks 0, results other
"""

import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
model = torch.compile(net, backend="eager")
x = torch.ones(2, 4)
model(x)
activations = []
net[0].register_forward_hook(lambda module, arguments, out: activations.append(out.detach()))
model(x)


def confirmed():
    return len(activations) == 1


# Cured
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
model = torch.compile(net, backend="eager")
x = torch.ones(2, 4)
model(x)
activations = []
net[0].register_forward_hook(lambda module, arguments, out: activations.append(out.detach()))
torch.compiler.reset()
model(x)


def confirmed():
    return len(activations) == 1
