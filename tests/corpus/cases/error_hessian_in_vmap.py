"""The Hessian of each sample is compiled.

Source: https://github.com/pytorch/pytorch/issues/154284
Finds: nested transforms
Cause: hessian|transforms
Cure: jacrev
Expects: graphs 1, breaks 0
"""

import torch
from torch.func import hessian, vmap


def energy(x):
    return (x.sin() * x.cos()).sum()


model = vmap(hessian(energy))
inputs = (torch.randn(5, 3),)

# Cured
from torch.func import jacfwd, jacrev

model = vmap(jacrev(jacfwd(energy)))
