r"""The body of a while loop returns a view of its state.

Source: https://github.com/pytorch/pytorch/issues/191582
Finds: not compiled: failed or graph breaks
Cause: alias|view
Cure: clone
Expects: graphs 1
"""

import torch
from torch._higher_order_ops import while_loop


def under(step, rows):
    return step < 3


def turn(step, rows):
    return step + 1, rows.view(-1)


def model(rows):
    return while_loop(under, turn, (torch.tensor(0), rows))[1] * 2


inputs = (torch.arange(4.0),)

# Cured


def turn(step, rows):
    return step + 1, rows.view(-1).clone()
