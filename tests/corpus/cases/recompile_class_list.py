"""A list of the class grows in each call, and each length is compiled.

Source: https://github.com/pytorch/pytorch/issues/169253
Finds: recompiles
Cause: changed its length
Cure: outside of the compiled function
Expects: recompiles 0
"""

import torch


class Net(torch.nn.Module):
    items = []

    def forward(self, rows):
        Net.items.append(rows)
        return rows * 2


model = Net()
calls = [(torch.ones(2),)] * 4

# Cured


def model(rows):
    return rows * 2
