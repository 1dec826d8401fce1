"""A custom Function whose backward is differentiable once.

Source: https://github.com/pytorch/pytorch/issues/106893
Run: --backend aot_eager
"""

import torch


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        return rows.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * 0.5


def model(rows):
    return Halved.apply(rows).sum()


inputs = (torch.ones(4, requires_grad=True),)
training = True
