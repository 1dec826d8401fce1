r"""A helper compiles the model and binds the result to its own argument.

Source: https://github.com/fla-org/flame/pull/44
Finds: not called or nothing compiled
Cause: (never|not) (called|used)|local|result|returned|thrown away|discard
Cure: return|assign|\.compile\(|use the (result|compiled)|in place
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn


def apply_compile(model):
    print("Compiling the entire model")
    model = torch.compile(model, backend="eager")


model = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 2))
apply_compile(model)
for _ in range(3):
    model(torch.randn(2, 4))

# Cured
import torch
from torch import nn


def apply_compile(model):
    print("Compiling the entire model")
    return torch.compile(model, backend="eager")


model = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 2))
model = apply_compile(model)
for _ in range(3):
    model(torch.randn(2, 4))
