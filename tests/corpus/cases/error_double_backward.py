"""A gradient penalty needs a second backward through compiled code.

Source: https://github.com/pytorch/pytorch/issues/91469
Run: --script
Finds: double backward
Cause: none of the backward
Cure: backend='eager'
Expects: skipped 0
"""

import torch

torch.manual_seed(0)
critic = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
compiled = torch.compile(critic, backend="aot_eager")
points = torch.randn(3, 4, requires_grad=True)
(slope,) = torch.autograd.grad(compiled(points).sum(), points, create_graph=True)
slope.square().sum().backward()

# Cured
import torch

torch.manual_seed(0)
critic = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
compiled = torch.compile(critic, backend="eager")
points = torch.randn(3, 4, requires_grad=True)
(slope,) = torch.autograd.grad(compiled(points).sum(), points, create_graph=True)
slope.square().sum().backward()
