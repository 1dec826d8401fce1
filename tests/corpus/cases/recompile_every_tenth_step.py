"""A step number of a Python object decides which steps do more.

Source: https://github.com/cloneofsimo/zeroshampoo/issues/1
Finds: recompiles or near the recompile limit
Cause: steps|count
Cure: argument|outside|flag|bool|tensor
Expects: recompiles 1
"""

import torch


class Preconditioner:
    def __init__(self):
        self.steps = 0
        self.factor = torch.ones(4)


kept = Preconditioner()


def model(x):
    kept.steps += 1
    if kept.steps % 3 == 0:
        return x * kept.factor * 2
    return x * kept.factor


x = torch.randn(4)
calls = [(x,) for _ in range(7)]


# Cured
def model(x, is_third):
    if is_third:
        return x * kept.factor * 2
    return x * kept.factor


calls = [(x, number % 3 == 0) for number in range(1, 8)]
