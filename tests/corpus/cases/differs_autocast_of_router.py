"""A router computes in float32 within autocast, as mixtures of experts do, and the gradient of its weight is rounded.

Source: https://github.com/pytorch/pytorch/issues/153044
Finds: results may differ
Cause: backward of compiled code computes in 16 bits
Cure: backward_pass_autocast
Expects: graphs 1
Run: --script
"""

import torch
from torch import nn


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(32, 4, bias=False)

    def forward(self, hidden):
        with torch.autocast("cpu", enabled=False):
            return nn.functional.linear(hidden.float(), self.gate.weight)


torch.manual_seed(0)
router = Router()
compiled = torch.compile(router, backend="aot_eager")
hidden = torch.randn(16, 32)
with torch.autocast("cpu", dtype=torch.bfloat16):
    scores = compiled(hidden)
scores.square().sum().backward()
exact = 2 * scores.detach().T @ hidden
print("rounded", bool((router.gate.weight.grad - exact).abs().max() > 1e-3))

# Cured
import torch
import torch._functorch.config
from torch import nn

torch._functorch.config.backward_pass_autocast = "off"


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(32, 4, bias=False)

    def forward(self, hidden):
        with torch.autocast("cpu", enabled=False):
            return nn.functional.linear(hidden.float(), self.gate.weight)


torch.manual_seed(0)
router = Router()
compiled = torch.compile(router, backend="aot_eager")
hidden = torch.randn(16, 32)
with torch.autocast("cpu", dtype=torch.bfloat16):
    scores = compiled(hidden)
scores.square().sum().backward()
exact = 2 * scores.detach().T @ hidden
print("rounded", bool((router.gate.weight.grad - exact).abs().max() > 1e-3))
