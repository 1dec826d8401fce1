"""The step of an optimizer that torch itself leaves to eager is compiled.

Source: https://docs.pytorch.org/docs/stable/torch.compiler_troubleshooting.html
Run: --script
Finds: graph breaks
Cause: leaves the step|LBFGS
Cure: outside of the compiled function
Expects: breaks 0
Not: Remove the `torch.compiler.disable` call
"""

import torch

weight = torch.zeros(4, requires_grad=True)
optimizer = torch.optim.LBFGS([weight], max_iter=3)


def distance():
    return ((weight - 1) ** 2).sum()


def closure():
    optimizer.zero_grad()
    loss = distance()
    loss.backward()
    return loss


step = torch.compile(lambda: optimizer.step(closure), backend="eager")
step()

# Cured
import torch

weight = torch.zeros(4, requires_grad=True)
optimizer = torch.optim.LBFGS([weight], max_iter=3)


@torch.compile(backend="eager")
def distance():
    return ((weight - 1) ** 2).sum()


def closure():
    optimizer.zero_grad()
    loss = distance()
    loss.backward()
    return loss


optimizer.step(closure)
