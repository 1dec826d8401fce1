r"""A custom Function gets the same parameter for both of its arguments.

Source: https://github.com/pytorch/pytorch/issues/183604
Run: --backend aot_eager
Finds: graph breaks
Cause: same tensor|twice|Function|alias
Cure: clone|once|one argument|separate|copy
Expects: breaks 0
"""

import torch


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, left, right):
        ctx.save_for_backward(left, right)
        return left * right + left + right

    @staticmethod
    def backward(ctx, gradient):
        left, right = ctx.saved_tensors
        return gradient * (right + 1), gradient * (left + 1)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(5))

    def forward(self, rows):
        return Both.apply(self.weight, self.weight) * rows


model, inputs = Layer(), (torch.ones(5),)
training = True

# Cured


class Copied(Layer):
    def forward(self, rows):
        return Both.apply(self.weight, self.weight.clone()) * rows


torch.manual_seed(0)
model = Copied()
