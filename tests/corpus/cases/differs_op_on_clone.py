"""A custom op gets a tensor that it writes, and a clone of it.

Source: https://github.com/pytorch/pytorch/issues/198031
Finds: results differ
Cause: clone|reverse_into
Cure: mutates_args|functional|copy|without|new_empty
Expects: breaks 0
Run: --backend inductor
"""

import torch


@torch.library.custom_op("sixty::reverse_into", mutates_args=("target",))
def reverse_into(source: torch.Tensor, target: torch.Tensor) -> None:
    for number in range(8):
        target[7 - number] = source[number]


def model(x):
    y = x.clone()
    reverse_into(y, x)
    return x * 2


inputs = (torch.arange(8.0),)


# Cured
@torch.library.custom_op("sixty::reversed", mutates_args=())
def reversed_of(source: torch.Tensor) -> torch.Tensor:
    return source.flip(0)


@reversed_of.register_fake
def reversed_fake(source):
    return torch.empty_like(source)


def model(x):
    x.copy_(reversed_of(x))
    return x * 2
