"""A scheduler adds `initial_lr` to the optimizer after its step was compiled.

Source: https://github.com/pytorch/pytorch/issues/130467
Finds: recompiles
Cause: param_groups|initial_lr|scheduler
Cure: scheduler.*before|before.*(compile|first)|create
Expects: recompiles 0
Run: --script
"""

import torch

weight = torch.nn.Parameter(torch.ones(3))
weight.grad = torch.ones(3)
optimizer = torch.optim.SGD([weight], lr=torch.tensor(0.1))


@torch.compile(backend="eager")
def step():
    optimizer.step()


step()
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=5)
for _ in range(3):
    step()
    scheduler.step()
print(weight.sum().item())


# Cured
import torch

weight = torch.nn.Parameter(torch.ones(3))
weight.grad = torch.ones(3)
optimizer = torch.optim.SGD([weight], lr=torch.tensor(0.1))
first = torch.optim.SGD([weight], lr=0.1)


@torch.compile(backend="eager")
def step():
    optimizer.step()


first.step()
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=5)
for _ in range(3):
    step()
    scheduler.step()
print(weight.sum().item())
