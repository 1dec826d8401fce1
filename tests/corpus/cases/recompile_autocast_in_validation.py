"""Training runs under autocast, and validation without.

Source: https://github.com/pytorch/pytorch/pull/143592
Finds: recompiles
Cause: autocast|global state
Cure: same|both|also under|inside (the )?(forward|model|compiled)|consistent
Expects: graphs 1, breaks 0, recompiles 0
Run: --script
"""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 1)).eval()
compiled = torch.compile(model, backend="eager")
x = torch.randn(4, 8)
with torch.no_grad():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        compiled(x)
    compiled(x)

# Cured
import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 1)).eval()
compiled = torch.compile(model, backend="eager")
x = torch.randn(4, 8)
with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
    compiled(x)
    compiled(x)
