"""Validation turns deterministic algorithms on, and training turns them off.

Source: https://github.com/pytorch/pytorch/pull/96695
Finds: recompiles
Cause: determinis|global state
Cure: once|same|before|use_deterministic_algorithms
Expects: recompiles 0
"""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 5), torch.nn.Softmax(-1))
images = torch.randn(2, 3, 4)


def calls():
    for epoch in range(2):
        torch.use_deterministic_algorithms(False)
        yield (images + epoch,)
        torch.use_deterministic_algorithms(True)
        yield (images - epoch,)
    torch.use_deterministic_algorithms(False)


# Cured
def calls():
    for epoch in range(2):
        yield (images + epoch,)
        yield (images - epoch,)
