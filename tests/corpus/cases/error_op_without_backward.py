r"""A custom op with a fake function is trained, and has no formula for its backward.

Source: https://github.com/latkins/trifast/issues/1
Run: --backend aot_eager
Finds: no backward of an op
Cause: autograd formula|register_autograd|backward
Cure: register_autograd
Expects: graphs 1
"""

import torch


@torch.library.custom_op("triangles::attend", mutates_args=())
def attend(rows: torch.Tensor) -> torch.Tensor:
    return rows * rows


@attend.register_fake
def _(rows):
    return torch.empty_like(rows)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, rows):
        return attend(self.weight * rows)


model, inputs = Layer(), (torch.arange(3.0),)
training = True

# Cured


def keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def back(ctx, gradient):
    return gradient * 2 * ctx.saved_tensors[0]


attend.register_autograd(back, setup_context=keep)
