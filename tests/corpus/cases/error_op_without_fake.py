"""A custom op has no fake implementation.

Source: https://github.com/Lightning-AI/lightning-thunder/pull/2530
Finds: no fake kernel
Cause: fake
Cure: register_fake
Expects: breaks 0
"""

import torch


@torch.library.custom_op("sixty::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def model(x):
    return doubled(x) + 1


inputs = (torch.ones(3),)


# Cured
@doubled.register_fake
def doubled_fake(x):
    return torch.empty_like(x)
