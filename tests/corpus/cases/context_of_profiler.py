"""The code enters a context manager that Dynamo does not know.

Source: https://github.com/pytorch/pytorch/issues/116221
Finds: graph breaks at line 15
Cause: context manager
Cure: outside of the compiled function|around the call
Expects: breaks 0, graphs 1
"""

import torch
from torch.autograd.profiler import emit_itt


def model(rows):
    with emit_itt(enabled=False):
        return rows.sin() + 1


inputs = (torch.ones(4),)

# Cured


def model(rows):
    return rows.sin() + 1
