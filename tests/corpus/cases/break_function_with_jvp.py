r"""A custom Function has a forward-mode rule that nobody uses.

Source: https://github.com/pytorch/pytorch/issues/180284
Run: --backend aot_eager
Finds: graph breaks
Cause: jvp
Cure: jvp
Expects: breaks 0
"""

import torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(rows, scale):
        return rows * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[1])
        ctx.save_for_forward(inputs[1])

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0], None

    @staticmethod
    def jvp(ctx, rows, scale):
        return rows * ctx.saved_tensors[0]


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 5))

    def forward(self, rows):
        return Scaled.apply(self.weight * rows, torch.full((5,), 2.0))


model, inputs = Layer(), (torch.ones(4, 5),)
training = True

# Cured


class OnlyReverse(torch.autograd.Function):
    @staticmethod
    def forward(rows, scale):
        return rows * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0], None


class Cured(Layer):
    def forward(self, rows):
        return OnlyReverse.apply(self.weight * rows, torch.full((5,), 2.0))


torch.manual_seed(0)
model = Cured()
