"""A loop by a tensor's value with `torch.while_loop`.

Source: https://docs.pytorch.org/docs/stable/higher_order_ops/while_loop.html
"""

import torch


def go_on(left, x):
    return left > 0


def step(left, x):
    return left - 1, x * 2


def model(x):
    return torch.while_loop(go_on, step, (torch.tensor(3), x))[1]


inputs = (torch.randn(4, 8),)
