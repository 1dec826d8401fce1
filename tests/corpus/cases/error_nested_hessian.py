"""The Hessian of a Hessian is compiled.

Source: https://github.com/pytorch/pytorch/issues/154284
Finds: raised at run time or not compiled: failed
Cause: hessian|grad|functorch|level
Cure: jacrev|jacfwd|reverse.mode|inner|outside|eager
Expects: graphs 1, breaks 0
Lacks: detected, explained, cured
"""

import torch
from torch import nn
from torch.func import hessian

net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
model, inputs = hessian(hessian(net)), (torch.zeros(4),)

# Cured
from torch.func import jacrev


def second_derivatives(f):
    return jacrev(jacrev(f))


model = second_derivatives(second_derivatives(net))
