"""`filter` with a lambda over tensors, which older versions could not trace.

Source: https://github.com/pytorch/pytorch/issues/128944
"""

import torch


def model(x, y):
    out = x
    for each in filter(lambda tensor: tensor.requires_grad, (x, y)):
        out = out * each
    return out + 2


inputs = (torch.randn(4), torch.randn(4, requires_grad=True))
