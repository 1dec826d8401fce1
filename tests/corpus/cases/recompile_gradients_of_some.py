"""An optimizer's compiled step meets parameters that had no gradient in the step before.

Source: https://github.com/pytorch/pytorch/pull/121291
Finds: recompiles
Cause: grad|None
Cure: set_to_none|zeros?|zero_grad|same|always|every
Expects: recompiles 1
Run: --script
Lacks: cured
"""

import torch
from torch import nn

torch.manual_seed(0)
shared = nn.Linear(8, 8)
heads = nn.ModuleList(nn.Linear(8, 1) for _ in range(3))
optimizer = torch.optim.SGD([*shared.parameters(), *heads.parameters()], lr=0.1)


@torch.compile(backend="eager")
def step():
    optimizer.step()


x = torch.randn(4, 8)
for task in range(3):
    optimizer.zero_grad()
    heads[task](torch.relu(shared(x))).square().mean().backward()
    step()
    print(round(float(shared.weight.sum()), 4))

# Cured
import torch
from torch import nn

torch.manual_seed(0)
shared = nn.Linear(8, 8)
heads = nn.ModuleList(nn.Linear(8, 1) for _ in range(3))
optimizer = torch.optim.SGD([*shared.parameters(), *heads.parameters()], lr=0.1)
for parameter in [*shared.parameters(), *heads.parameters()]:
    parameter.grad = torch.zeros_like(parameter)


@torch.compile(backend="eager")
def step():
    optimizer.step()


x = torch.randn(4, 8)
for task in range(3):
    optimizer.zero_grad(set_to_none=False)
    heads[task](torch.relu(shared(x))).square().mean().backward()
    step()
    print(round(float(shared.weight.sum()), 4))
