"""A regulariser differentiates a compiled function a second time, and keeps the graph for it.

Source: https://github.com/locuslab/torchdeq/issues/11
Finds: raised in a script or raised at run time or donated buffers
Cause: donated|retain_graph|create_graph
Cure: donated_buffer|retain_graph=False|one backward|sum of|one (loss|call)|backend.{0,20}eager
Expects: graphs 1, breaks 0
Run: --script
"""

import torch

torch.manual_seed(0)


@torch.compile
def cell(z, weight, x):
    hidden = torch.softmax(z @ weight, -1)
    return torch.tanh(hidden @ weight + x) @ weight


weight = torch.randn(8, 8, requires_grad=True)
x = torch.randn(4, 8)
z = torch.zeros(4, 8, requires_grad=True)
cell(z, weight, x).sum().backward()
out = cell(z, weight, x)
for _ in range(3):
    (power,) = torch.autograd.grad(out, z, torch.randn(4, 8), retain_graph=True)
out.sum().backward()

# Cured
import torch

torch._functorch.config.donated_buffer = False
torch.manual_seed(0)


@torch.compile
def cell(z, weight, x):
    hidden = torch.softmax(z @ weight, -1)
    return torch.tanh(hidden @ weight + x) @ weight


weight = torch.randn(8, 8, requires_grad=True)
x = torch.randn(4, 8)
z = torch.zeros(4, 8, requires_grad=True)
cell(z, weight, x).sum().backward()
out = cell(z, weight, x)
for _ in range(3):
    (power,) = torch.autograd.grad(out, z, torch.randn(4, 8), retain_graph=True)
out.sum().backward()
