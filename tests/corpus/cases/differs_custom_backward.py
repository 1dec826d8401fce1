r"""`torch.func.grad` of a straight-through estimator ignores its backward method.

Source: https://github.com/pytorch/pytorch/issues/193279
Finds: results differ
Cause: backward|autograd\.Function|gradient|functorch|torch\.func
Cure: detach|outside|torch\.autograd\.grad|custom_op|eager|without
Expects: skipped 0
"""

import torch


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(rows):
        return torch.round(rows)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def loss(rows):
    return (Rounded.apply(rows) * torch.arange(1.0, 5.0)).sum()


def model(rows):
    return torch.func.grad(loss)(rows)


inputs = (torch.tensor([0.2, 1.7, -0.4, 2.6]),)


# Cured
def loss(rows):
    rounded = rows + (torch.round(rows) - rows).detach()
    return (rounded * torch.arange(1.0, 5.0)).sum()
