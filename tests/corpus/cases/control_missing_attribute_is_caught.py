"""An attribute that a tensor does not have is asked for in a try block.

Source: https://github.com/pytorch/pytorch/issues/174166
"""

import torch


def model(x):
    try:
        return x.scale * x
    except AttributeError:
        return x * 2


inputs = (torch.randn(4, 8),)
