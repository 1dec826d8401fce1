"""An optimizer compiles its update anew in each step.

Source: https://github.com/pytorch/ao/issues/2500
Finds: near the recompile limit
Cause: each|every|again|anew|function|lambda|closure|lr|compile
Cure: once|outside|__init__|module level|before|tensor
Expects: recompiles 0
Run: --script
"""

import torch
from torch import nn


class Lion:
    def __init__(self, params, lr, beta=0.9):
        self.params, self.lr, self.beta = list(params), lr, beta
        self.momenta = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self):
        def update(p, grad, momentum):
            momentum.lerp_(grad, 1 - self.beta)
            p.sub_(self.lr * momentum.sign())

        for p, momentum in zip(self.params, self.momenta):
            torch.compile(update, backend=lambda gm, _: gm)(p, p.grad, momentum)


torch.manual_seed(0)
net = nn.Linear(8, 8, bias=False)
optimizer = Lion(net.parameters(), lr=0.01)
x = torch.randn(16, 8)
for _ in range(6):
    net.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
print(round(float(net.weight.sum()), 4))

# Cured
import torch
from torch import nn


def keep(gm, _):
    return gm


@torch.compile(backend=keep)
def update(p, grad, momentum, lr, beta):
    momentum.lerp_(grad, 1 - beta)
    p.sub_(lr * momentum.sign())


class Lion:
    def __init__(self, params, lr, beta=0.9):
        self.params, self.lr, self.beta = list(params), lr, beta
        self.momenta = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self):
        for p, momentum in zip(self.params, self.momenta):
            update(p, p.grad, momentum, self.lr, self.beta)


torch.manual_seed(0)
net = nn.Linear(8, 8, bias=False)
optimizer = Lion(net.parameters(), lr=0.01)
x = torch.randn(16, 8)
for _ in range(6):
    net.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
print(round(float(net.weight.sum()), 4))
