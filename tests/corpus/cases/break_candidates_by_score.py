r"""Beams are sorted by Python with a tensor as key.

Source: https://github.com/pytorch/pytorch/issues/143505
Finds: graph breaks at line 15
Cause: sort
Cure: torch\.sort|argsort|topk|stack
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    beams = [(row, row.square().mean()) for row in x.tanh()]
    beams = sorted(beams, key=lambda beam: beam[1])
    return torch.stack([beam[0] for beam in beams[:2]]) * 2


inputs = (torch.arange(32.0).view(4, 8) / 9,)

# Cured


def model(x):
    rows = x.tanh()
    order = rows.square().mean(-1).argsort()
    return rows[order[:2]] * 2
