"""A plateau scheduler replaces the tensor that is the learning rate by a float.

Source: https://github.com/pytorch/pytorch/issues/163093
Finds: recompiles
Cause: lr|learning rate|rate|float
Cure: tensor|fill_|copy_|in place
Expects: recompiles 1
Run: --script
"""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=torch.tensor(0.1), foreach=True)


class Plateau:
    def __init__(self, optimizer, factor, patience):
        self.optimizer, self.factor, self.patience = optimizer, factor, patience
        self.best, self.bad = float("inf"), 0

    def step(self, metric):
        self.best, self.bad = (metric, 0) if metric < self.best else (self.best, self.bad + 1)
        if self.bad > self.patience:
            self.bad = 0
            for group in self.optimizer.param_groups:
                group["lr"] = float(group["lr"]) * self.factor


scheduler = Plateau(optimizer, factor=0.5, patience=0)


@torch.compile(backend="eager")
def update():
    optimizer.step()


x, y = torch.randn(16, 4), torch.randn(16, 1)
for epoch in range(6):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    update()
    scheduler.step(1.0)
    print(round(float(net.weight.sum()), 4))

# Cured
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=torch.tensor(0.1), foreach=True)


class Plateau:
    def __init__(self, optimizer, factor, patience):
        self.optimizer, self.factor, self.patience = optimizer, factor, patience
        self.best, self.bad = float("inf"), 0

    def step(self, metric):
        self.best, self.bad = (metric, 0) if metric < self.best else (self.best, self.bad + 1)
        if self.bad > self.patience:
            self.bad = 0
            for group in self.optimizer.param_groups:
                group["lr"].mul_(self.factor)


scheduler = Plateau(optimizer, factor=0.5, patience=0)


@torch.compile(backend="eager")
def update():
    optimizer.step()


x, y = torch.randn(16, 4), torch.randn(16, 1)
for epoch in range(6):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    update()
    scheduler.step(1.0)
    print(round(float(net.weight.sum()), 4))
