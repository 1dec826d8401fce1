r"""A class is defined in a compiled function, where `fullgraph` is switched off for it.

Source: https://github.com/pytorch/pytorch/issues/161562
Finds: graph breaks or nothing compiled or not compiled: skipped
Cause: (?i)\bclass\b|build_class
Cure: (?i)outside|module level|before|move
Expects: graphs 1, breaks 0
"""

import torch


def model(x):
    y = x + 10

    class Holder:
        def __init__(self, x):
            self.x = x

    holder = Holder(x)
    return holder.x - y


inputs = (torch.tensor([1.0]),)

# Cured


class Holder:
    def __init__(self, x):
        self.x = x


def model(x):
    y = x + 10
    holder = Holder(x)
    return holder.x - y
