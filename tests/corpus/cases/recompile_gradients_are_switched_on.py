"""Parameters get gradients from some iteration on, and each change compiles again.

Source: https://github.com/chiahao3/ptyrad/issues/13
Finds: recompiles
Cause: (?i)requires_grad|gradient
Cure: (?i)requires_grad|mask|zero|same|before|from the start|always|learning rate
Run: --script
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


class Reconstruction(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.object = torch.nn.Parameter(torch.rand(4, 4))
        self.probe = torch.nn.Parameter(torch.rand(4, 4), requires_grad=False)
        self.tilt = torch.nn.Parameter(torch.rand(4, 4), requires_grad=False)

    def forward(self, x):
        return (self.object * self.probe + self.tilt * x).square().sum()


model = Reconstruction()
compiled = torch.compile(model, backend="eager")
x = torch.randn(4, 4)
for iteration in range(6):
    if iteration == 2:
        model.probe.requires_grad_(True)
    if iteration == 4:
        model.tilt.requires_grad_(True)
    compiled(x).backward()

# Cured
import torch


class Reconstruction(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.object = torch.nn.Parameter(torch.rand(4, 4))
        self.probe = torch.nn.Parameter(torch.rand(4, 4))
        self.tilt = torch.nn.Parameter(torch.rand(4, 4))

    def forward(self, x):
        return (self.object * self.probe + self.tilt * x).square().sum()


model = Reconstruction()
compiled = torch.compile(model, backend="eager")
x = torch.randn(4, 4)
for iteration in range(6):
    compiled(x).backward()
    if iteration < 2:
        model.probe.grad = None
    if iteration < 4:
        model.tilt.grad = None
