r"""A custom op returns its own input, which the compiler may not see as a new tensor.

Source: https://github.com/pytorch/pytorch/issues/134278
Finds: op returns its input
Cause: returns one of its inputs
Cure: \.clone\(\)
Expects: graphs 1
"""

import torch


@torch.library.custom_op("corpus::same", mutates_args=())
def same(rows: torch.Tensor) -> torch.Tensor:
    return rows


@same.register_fake
def _(rows):
    return torch.empty_like(rows)


def model(rows):
    return same(rows.sin()) + 1


inputs = (torch.ones(4),)

# Cured


@torch.library.custom_op("corpus::copied", mutates_args=())
def copied(rows: torch.Tensor) -> torch.Tensor:
    return rows.clone()


@copied.register_fake
def _(rows):
    return torch.empty_like(rows)


def model(rows):
    return copied(rows.sin()) + 1
