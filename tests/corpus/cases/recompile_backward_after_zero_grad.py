r"""With compiled autograd a gradient that is None or there captures the backward again.

Source: https://github.com/pytorch/pytorch/issues/118435
Finds: backward captured again or recompiles or captured again or graph breaks
Run: --script
Cause: (?i)zero_grad|\.grad\b|None|compiled.?autograd|accumul
Cure: (?i)set_to_none|zero_grad|compiled_autograd
Lacks: cured
"""

import torch

torch._dynamo.config.compiled_autograd = True
model = torch.nn.Linear(4, 4)


@torch.compile(backend="eager")
def train(x):
    model(x).sum().backward()


for step in range(4):
    train(torch.ones(2, 4))
    if step % 2:
        model.zero_grad()


def confirmed():
    return torch._dynamo.utils.counters["compiled_autograd"]["captures"] == 1


# Cured
import torch

torch._dynamo.config.compiled_autograd = True
model = torch.nn.Linear(4, 4)
for parameter in model.parameters():
    parameter.grad = torch.zeros_like(parameter)


@torch.compile(backend="eager")
def train(x):
    model(x).sum().backward()


for step in range(4):
    train(torch.ones(2, 4))
    if step % 2:
        model.zero_grad(set_to_none=False)


def confirmed():
    return torch._dynamo.utils.counters["compiled_autograd"]["captures"] == 1
