"""A view of an input that is a slice of another input is returned after a write.

Source: https://github.com/pytorch/pytorch/issues/198095
Finds: results differ
Cause: alias|view|share|overlap
Cure: clone
Expects: breaks 0
Run: --backend aot_eager
"""

import torch


def model(base, part):
    base.add_(100)
    return part[0]


first = torch.arange(24.0).reshape(4, 6)


def calls():
    base = first.clone()
    yield base, base[1:]


# Cured
def model(base, part):
    base.add_(100)
    return part[0].clone()
