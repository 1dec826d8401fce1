"""A function is made anew by `exec` for each call.

Source: https://github.com/pytorch/pytorch/issues/124269
Finds: recompiles or captured again or not compiled: over the limit
Cause: step.*(each call|new|made|other|another|identity)|exec|generated
Cure: once|outside|reuse|keep
Expects: recompiles 0
"""

import torch


def made(number):
    names = {}
    exec(f"def step(x):\n    return x * {number}.0\n", names)
    return names["step"]


def model(step, x):
    return step(x) + 1


calls = [(made(number), torch.ones(3)) for number in range(5)]


# Cured
def model(step, x):
    return step * x + 1


calls = [(torch.tensor(float(number)), torch.ones(3)) for number in range(5)]
