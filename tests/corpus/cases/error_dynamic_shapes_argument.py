"""A page says that torch.compile takes dynamic_shapes=True.

Source: https://theneuralbase.com/pytorch/learn/advanced/when-compile-helps-vs-hurts/
Finds: raised in a script or unknown setting
Cause: dynamic_shapes|unexpected keyword|argument
Cure: dynamic=True|`?dynamic`?
Expects: graphs 1, breaks 0, recompiles 0
Run: --script
"""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.GELU()).eval()
compiled = torch.compile(model, backend="eager", dynamic_shapes=True)
for batch in (2, 3, 5):
    compiled(torch.randn(batch, 4))

# Cured
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.GELU()).eval()
compiled = torch.compile(model, backend="eager", dynamic=True)
for batch in (2, 3, 5):
    compiled(torch.randn(batch, 4))
