"""A loop runs as often as a tensor's value says.

Source: https://github.com/pytorch/torchdynamo/issues/2044
Finds: graph breaks at line 14
Cause: item|loop
Cure: while_loop|before the call|pass (?:it|the number)
Expects: breaks 0, graphs 1
"""

import torch


def model(x, steps):
    for _ in range(steps.item()):
        x = torch.sin(x) + 0.5
    return x


inputs = (torch.randn(4, 8), torch.tensor(3))


# Cured
def go_on(step, steps, x):
    return step < steps


def body(step, steps, x):
    return step + 1, steps.clone(), torch.sin(x) + 0.5


def model(x, steps):
    return torch.while_loop(go_on, body, (torch.tensor(0), steps, x))[2]
