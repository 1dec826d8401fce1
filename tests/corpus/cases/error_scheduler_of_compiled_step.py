"""A recipe compiles the optimizer's step before it makes the scheduler.

Source: https://github.com/meta-pytorch/torchtune/issues/2263
Finds: compiled step
Cause: __func__|scheduler|step|method|optimizer
Cure: before|first|wrap|order|scheduler
Expects: skipped 0
Run: --script
"""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=torch.tensor(0.1))
optimizer.step = torch.compile(optimizer.step, backend="eager")
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
for _ in range(2):
    optimizer.zero_grad()
    net(torch.ones(4, 8)).square().mean().backward()
    optimizer.step()
    scheduler.step()
print(round(float(net.weight.sum()), 4))

# Cured
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=torch.tensor(0.1))
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)


@torch.compile(backend="eager")
def step():
    optimizer.step()


for _ in range(2):
    optimizer.zero_grad()
    net(torch.ones(4, 8)).square().mean().backward()
    step()
    scheduler.step()
print(round(float(net.weight.sum()), 4))
