r"""The class of a custom Function is decorated, and only its `apply` is called.

Source: https://github.com/fla-org/flash-linear-attention/issues/979
Run: --script
Finds: not called
Cause: autograd\.Function|never called
Cure: function that calls|compile a function
Expects: graphs 1, breaks 0
"""

import torch


@torch.compile(backend="eager")
class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        ctx.save_for_backward(rows)
        return rows * torch.sigmoid(rows)

    @staticmethod
    def backward(ctx, gradient):
        (rows,) = ctx.saved_tensors
        part = torch.sigmoid(rows)
        return gradient * (part + rows * part * (1 - part))


print(Gate.apply(torch.ones(3)))

# Cured
import torch


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        ctx.save_for_backward(rows)
        return rows * torch.sigmoid(rows)

    @staticmethod
    def backward(ctx, gradient):
        (rows,) = ctx.saved_tensors
        part = torch.sigmoid(rows)
        return gradient * (part + rows * part * (1 - part))


@torch.compile(backend="eager")
def gate(rows):
    return Gate.apply(rows)


print(gate(torch.ones(3)))


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
