"""A layer turns autocast off for its own product, and its gradient is rounded all the same.

Source: https://github.com/pytorch/pytorch/issues/179804
Finds: results may differ
Cause: autocast|bfloat16|backward|gradient
Cure: outside|backward|compile|eager|autocast
Expects: graphs 1
Run: --script
"""

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(64, 64)
hidden = torch.randn(4, 64, dtype=torch.bfloat16)


@torch.compile(backend="aot_eager")
def head(x):
    with torch.amp.autocast("cpu", enabled=False):
        return x.float() @ layer.weight.float().T


with torch.amp.autocast("cpu", dtype=torch.bfloat16):
    out = head(hidden)
out.square().sum().backward()
exact = 2 * (out.detach().T @ hidden.float())
print(bool(torch.allclose(layer.weight.grad, exact, atol=1e-3)))

# Cured
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(64, 64)
hidden = torch.randn(4, 64, dtype=torch.bfloat16)


@torch.compile(backend="aot_eager")
def head(x):
    return x.float() @ layer.weight.float().T


with torch.amp.autocast("cpu", dtype=torch.bfloat16):
    with torch.amp.autocast("cpu", enabled=False):
        out = head(hidden)
out.square().sum().backward()
exact = 2 * (out.detach().T @ hidden.float())
print(bool(torch.allclose(layer.weight.grad, exact, atol=1e-3)))
