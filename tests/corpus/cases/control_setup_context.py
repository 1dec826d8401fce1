"""A custom Function with setup_context.

Source: https://github.com/pytorch/pytorch/issues/118397
Run: --backend aot_eager
"""

import torch


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(rows):
        return rows * 3

    @staticmethod
    def setup_context(ctx, inputs, output):
        return None

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


def model(rows):
    return Tripled.apply(rows).sum()


inputs = (torch.ones(4, requires_grad=True),)
training = True
