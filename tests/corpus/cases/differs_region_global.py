"""A nested compile region reads a global that the caller binds anew between two calls.

Source: https://github.com/pytorch/pytorch/issues/191821
Finds: results differ
Cause: traced once
Cure: as arguments
Expects: skipped 0
"""

import torch


class Holder:
    def __init__(self, hidden):
        self.hidden = hidden


holder = Holder(torch.tensor(0))


@torch.compiler.nested_compile_region
def region():
    return holder.hidden + 1


def model(hidden):
    global holder
    for _ in range(2):
        holder = Holder(hidden)
        hidden = region()
    return hidden


inputs = (torch.tensor(0),)

# Cured


@torch.compiler.nested_compile_region
def region_of(hidden):
    return hidden + 1


def model(hidden):
    for _ in range(2):
        hidden = region_of(hidden)
    return hidden
