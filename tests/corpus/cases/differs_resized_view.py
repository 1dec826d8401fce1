"""A view of an intermediate is resized after a graph break.

Source: https://github.com/pytorch/pytorch/issues/191449
Finds: results differ or graph breaks at line 17
Cause: resize|alias|view
Cure: clone|new_zeros|F.pad|pad|not resize|without|out of place|reshape
Expects: breaks 0
Run: --backend inductor
"""

import torch


def model(x):
    base = x + 1
    alias = base.view(-1)
    alias.resize_(12)
    return base + 1


inputs = (torch.zeros(1),)


# Cured
def model(x):
    base = x + 1
    return base + 1
