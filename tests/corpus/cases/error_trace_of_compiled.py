r"""A compiled network is traced by torch.jit.trace, to be saved.

Source: https://github.com/pytorch/pytorch/issues/93485
Finds: traced while compiled or raised in a script
Cause: jit\.trace|trac|TorchScript
Cure: uncompiled|before (it is )?compil|original|_orig_mod|torch\.export|eager model|without compil|not compiled
Expects: breaks 0
Run: --script
"""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
compiled = torch.compile(model, backend="eager")
traced = torch.jit.trace(compiled, torch.rand(1, 3, 8, 8))
print(traced.graph)

# Cured: the network itself
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
compiled = torch.compile(model, backend="eager")
compiled(torch.rand(1, 3, 8, 8))
traced = torch.jit.trace(model, torch.rand(1, 3, 8, 8))
print(traced.graph)
