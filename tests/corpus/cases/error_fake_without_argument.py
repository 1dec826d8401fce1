"""The fake kernel of an operator does not take the operator's second argument.

Source: https://github.com/pytorch/pytorch/issues/181851
Finds: wrong fake kernel or not compiled: failed or graph breaks
Cause: fake|argument|signature|positional
Cure: same (arguments|signature|parameters)|signature|argument|register_fake
Expects: graphs 1, breaks 0
Lacks: cured
"""

import torch


@torch.library.custom_op("unseen::tile_rows", mutates_args=())
def tile_rows(x: torch.Tensor, n: int) -> torch.Tensor:
    return x.clone().repeat(n)


@tile_rows.register_fake
def _(x):
    return x.new_empty(x.shape[0])


def model(x):
    return tile_rows(x.sin(), 2) + 1


inputs = (torch.randn(3),)


# Cured
@tile_rows.register_fake
def _(x, n):
    return x.new_empty(x.shape[0] * n)
