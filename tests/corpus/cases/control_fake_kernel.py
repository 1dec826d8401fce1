"""A custom op with a fake kernel and a backward.

Source: https://github.com/pytorch/pytorch/issues/97295
Run: --backend aot_eager
"""

import torch


@torch.library.custom_op("corpus::tripled", mutates_args=())
def tripled(rows: torch.Tensor) -> torch.Tensor:
    return rows * 3


@tripled.register_fake
def _(rows):
    return torch.empty_like(rows)


tripled.register_autograd(lambda ctx, grad: grad * 3)


def model(rows):
    return tripled(rows.sin()).sum()


inputs = (torch.ones(4, requires_grad=True),)
training = True
