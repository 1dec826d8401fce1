r"""A graph break in a loop sends the whole function back to eager.

Source: https://github.com/pytorch/pytorch/pull/88857
Finds: graph breaks at line 15 or nothing compiled or not compiled: skipped or graph breaks
Cause: (?i)print|\bloop
Cure: (?i)remove|outside|reorderable|after the loop|move|function
Expects: graphs 1, breaks 0
"""

import torch


def model(x):
    for step in range(4):
        x = torch.sin(x) * 2
        print("step", step)
    return x + 1


inputs = (torch.randn(8),)

# Cured


def model(x):
    for step in range(4):
        x = torch.sin(x) * 2
    return x + 1
