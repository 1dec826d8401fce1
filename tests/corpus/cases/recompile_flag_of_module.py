"""A flag of a module is switched around some calls: two states that are right.

Source: https://github.com/pytorch/pytorch/issues/124717
Finds: recompiles
Cause: disabled
Cure: states|argument|tensor|two compilations are expected
Expects: recompiles 1
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.disabled = False

    def forward(self, x):
        out = x * x
        return out if self.disabled else out + 1


model = Net()


def calls():
    for disabled in (False, True, False, True):
        model.disabled = disabled
        yield (torch.randn(4, 4),)


# Cured
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.disabled = False

    def forward(self, x):
        out = x * x
        return out if self.disabled else out + 1


model = Net()
