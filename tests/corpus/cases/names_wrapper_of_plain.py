"""A script saves the original of a model, which was compiled in place.

Source: https://github.com/pytorch/tutorials/pull/3336
Run: --script
Finds: names of a compiled module
Cause: _orig_mod
Cure: getattr
Expects: breaks 0, results other
"""

import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x.sin()


net = Net()
net.compile(backend="eager")
net(torch.ones(2))
state = net._orig_mod.state_dict()

# Cured
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x.sin()


net = Net()
net.compile(backend="eager")
net(torch.ones(2))
state = getattr(net, "_orig_mod", net).state_dict()
