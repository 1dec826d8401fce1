r"""The update of a mixed-precision loop is compiled, with the scaler's step in it.

Source: https://github.com/pytorch/pytorch/issues/138412
Finds: graph breaks
Cause: item|scaler|GradScaler|\binf\b|scalar
Cure: outside|not compile|out of|leave|disable|eager|only|forward
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)


@torch.compile(backend="eager")
def update():
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()


for _ in range(3):
    loss = net(torch.randn(16, 8)).square().mean()
    scaler.scale(loss).backward()
    update()
    print(round(float(loss.detach()), 4))

# Cured
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
forward = torch.compile(net, backend="eager")


def update():
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()


for _ in range(3):
    loss = forward(torch.randn(16, 8)).square().mean()
    scaler.scale(loss).backward()
    update()
    print(round(float(loss.detach()), 4))
