"""An intermediate is detached in place.

Source: https://github.com/pytorch/pytorch/issues/176854
"""

import torch


def model(x):
    y = x * 2.0
    y.detach_()
    return y + 1.0


inputs = (torch.randn(4),)
