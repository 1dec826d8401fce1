"""A registry is keyed by objects, whose entry is written.

Source: https://github.com/pytorch/pytorch/issues/167956
"""

import torch


class Owner:
    pass


owner = Owner()
registry = {owner: {}}


def model(x):
    registry[owner]["last"] = x
    return x + 1


inputs = (torch.randn(4, 8),)
