"""Some batches were made in inference mode and others were not.

Source: https://github.com/pytorch/pytorch/issues/148983
Finds: recompiles
Cause: inference|dispatch key
Cure: clone|no_grad|same mode|outside
Expects: recompiles 0
"""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2)).requires_grad_(False)


def calls():
    yield (torch.ones(2, 3),)
    with torch.inference_mode():
        cached = torch.full((2, 3), 2.0)
    yield (cached,)
    yield (torch.ones(2, 3),)


# Cured
def calls():
    for value in (1.0, 2.0, 1.0):
        yield (torch.full((2, 3), value),)
