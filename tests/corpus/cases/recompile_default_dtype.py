"""A test sets another default dtype between two calls.

Source: https://github.com/pytorch/pytorch/issues/109458
Finds: recompiles
Cause: default.?dtype|global state
Cure: dtype=|explicit|same|once|before the first|do not change|don't change
Expects: graphs 1, breaks 0, recompiles 0
Run: --script
"""

import torch


@torch.compile(backend="eager")
def grid(x):
    return x.double() * torch.linspace(0.0, 1.0, 5).double()


x = torch.randn(5)
grid(x)
torch.set_default_dtype(torch.double)
grid(x)

# Cured: the dtype is said, and the default stays
import torch


@torch.compile(backend="eager")
def grid(x):
    return x.double() * torch.linspace(0.0, 1.0, 5, dtype=torch.double)


x = torch.randn(5)
grid(x)
grid(x)
