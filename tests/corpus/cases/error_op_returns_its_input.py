"""An operator returns its argument if there is nothing to do.

Source: https://github.com/state-spaces/mamba/pull/651
Finds: raised in eager or raised at run time or custom op schema or op returns its input
Cause: alias|same tensor|its (own )?input|returns.{0,30}(input|argument)
Cure: clone|copy
Expects: graphs 1, breaks 0, results other
"""

import torch


@torch.library.custom_op("unseen::gate", mutates_args=())
def gate(x: torch.Tensor, z: torch.Tensor, use: bool) -> torch.Tensor:
    return x * torch.sigmoid(z) if use else x


@gate.register_fake
def _(x, z, use):
    return torch.empty_like(x)


def model(x, z):
    return gate(x * 2, z, False) + 1


inputs = (torch.randn(3, 4), torch.randn(3, 4))


# Cured
@torch.library.custom_op("unseen::gate_cloned", mutates_args=())
def gate_cloned(x: torch.Tensor, z: torch.Tensor, use: bool) -> torch.Tensor:
    return x * torch.sigmoid(z) if use else x.clone()


@gate_cloned.register_fake
def _(x, z, use):
    return torch.empty_like(x)


def model(x, z):
    return gate_cloned(x * 2, z, False) + 1
