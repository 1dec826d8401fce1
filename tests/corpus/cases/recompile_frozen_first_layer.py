"""The first layer's input needs no gradient, all others' do.

Source: https://github.com/pytorch/pytorch/issues/141039
Finds: recompiles
Cause: requires_grad|gradient
Cure: requires_grad|states
Expects: recompiles 0
"""

import torch

frozen = torch.nn.Linear(4, 4).requires_grad_(False)
adapter = torch.nn.Linear(4, 4)


def model(x):
    return frozen(x) + adapter(x)


calls = [(torch.ones(2, 4),), (torch.ones(2, 4, requires_grad=True),), (torch.ones(2, 4, requires_grad=True),)]


# Cured
calls = [(torch.ones(2, 4, requires_grad=True),) for _ in range(3)]
