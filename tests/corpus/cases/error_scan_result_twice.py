r"""The body of a scan returns one tensor both as its state and as its result.

Source: https://github.com/pytorch/pytorch/issues/153437
Finds: not compiled: failed or graph breaks
Cause: alias
Cure: clone
Expects: graphs 1
"""

import torch
from torch._higher_order_ops.scan import scan


def total(state, row):
    state = state + row
    return state, state


def model(rows):
    return scan(total, torch.zeros(1), rows)


inputs = (torch.arange(5.0)[:, None],)

# Cured


def total(state, row):
    state = state + row
    return state, state.clone()
