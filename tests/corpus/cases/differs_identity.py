"""The code asks whether two objects are one, and no guard checks it.

Source: https://github.com/pytorch/pytorch/issues/196173
Finds: results differ
Cause: No guard checks `first is second`
Cure: pass its result as an argument
Expects: recompiles 1, results other
"""

import torch


class Box:
    def __init__(self, number):
        self.number = number


def model(rows, first, second):
    if first is second:
        return rows * first.number + second.number
    return rows + first.number


shared = Box(2)
calls = [(torch.ones(3), shared, Box(2)), (torch.ones(3), shared, shared)]

# Cured


def model(rows, first, second, is_one):
    if is_one:
        return rows * first.number + second.number
    return rows + first.number


calls = [(torch.ones(3), shared, Box(2), False), (torch.ones(3), shared, shared, True)]


def confirmed():
    again = torch.compile(model, backend="eager")
    return bool((again(torch.ones(3), shared, shared, True) == 4).all())
