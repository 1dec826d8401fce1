"""A nested function writes to a view of a tensor of the outer one.

Source: https://github.com/pytorch/pytorch/issues/97130
"""

import torch


def model(x):
    a = x * 1
    b = a.reshape(2)
    c = a[0:2]

    def write():
        b[0] = 2

    write()
    return c


inputs = (torch.ones(2),)
