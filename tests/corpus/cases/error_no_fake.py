"""A custom op has no function for fake tensors, so Dynamo cannot trace its call.

Source: https://github.com/pytorch/pytorch/issues/97295
Finds: no fake kernel
Cause: fake
Cure: register_fake
Expects: graphs 1, breaks 0
"""

import torch


@torch.library.custom_op("corpus::halved", mutates_args=())
def halved(rows: torch.Tensor) -> torch.Tensor:
    return rows / 2


def model(rows):
    return halved(rows.relu()) + 1


inputs = (torch.randn(4, 8),)

# Cured


@torch.library.custom_op("corpus::halved_too", mutates_args=())
def halved_too(rows: torch.Tensor) -> torch.Tensor:
    return rows / 2


@halved_too.register_fake
def _(rows):
    return torch.empty_like(rows)


def model(rows):
    return halved_too(rows.relu()) + 1
