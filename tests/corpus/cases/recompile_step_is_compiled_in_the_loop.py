r"""The update of an optimizer is defined and compiled anew in each iteration.

Source: https://github.com/meta-pytorch/torchtune/issues/2516
Finds: recompiles or compiled step or captured again
Cause: (?i)\bloop|each (iteration|step|call)|closure|anew|fresh|new function|decay
Cure: (?i)once|outside|before the loop|move|reuse
Run: --script
Expects: breaks 0, recompiles 0
Lacks: cured
"""

import torch

weight = torch.ones(4)


def train(steps):
    for step in range(steps):
        decay = 0.9 - 0.1 * step

        def update():
            weight.mul_(decay)
            return weight.sum()

        torch.compile(update, backend="eager")()


train(5)

# Cured
import torch

weight = torch.ones(4)


@torch.compile(backend="eager")
def update(decay):
    weight.mul_(decay)
    return weight.sum()


def train(steps):
    for step in range(steps):
        update(torch.tensor(0.9 - 0.1 * step))


train(5)
