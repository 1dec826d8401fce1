"""A while loop of two states returns new tensors, and the code after it changes them in place.

Source: https://github.com/pytorch/pytorch/issues/146213
"""

import torch
from torch._higher_order_ops import while_loop


def under(step, rows):
    return step < 4


def turn(step, rows):
    return step + 1, rows * 0.5


def model(rows):
    _, halved = while_loop(under, turn, (torch.tensor(0), rows.sin()))
    return halved.sin_(), rows.cos()


inputs = (torch.arange(4.0),)
