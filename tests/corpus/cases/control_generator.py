"""A generator function, which older versions did not trace.

Source: https://github.com/pytorch/pytorch/issues/126360
"""

import torch


def model(x):
    for step in range(3):
        x = torch.sin(x) * (step + 1)
        yield x


inputs = (torch.randn(4, 8),)
