r"""A physics-informed network is compiled, and its loss needs the second derivative by the input.

Source: https://github.com/PINA-org/PINA/issues/621
Finds: double backward or raised in a script or raised at run time
Cause: double backward|second.(order|derivative)|twice|higher.order|create_graph
Cure: backend=.?.?eager|\beager\b|not compile|without compil|torch\.func|jvp|inside the compiled|uncompiled
Expects: breaks 0
Run: --script
"""

import torch
from torch import nn

net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
solver = torch.compile(net, backend="aot_eager")
t = torch.linspace(0, 1, 10).unsqueeze(1).requires_grad_()
u = solver(t)
(du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
(ddu,) = torch.autograd.grad(du.sum(), t, create_graph=True)
((ddu + u) ** 2).mean().backward()

# Cured: the backend eager leaves the derivatives to autograd
import torch
from torch import nn

net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
solver = torch.compile(net, backend="eager")
t = torch.linspace(0, 1, 10).unsqueeze(1).requires_grad_()
u = solver(t)
(du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
(ddu,) = torch.autograd.grad(du.sum(), t, create_graph=True)
((ddu + u) ** 2).mean().backward()
