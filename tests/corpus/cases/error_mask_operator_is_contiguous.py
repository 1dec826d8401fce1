"""The fake kernel of an attention keeps the strides of its input, the real one is contiguous.

Source: https://github.com/NVIDIA/cuEquivariance/issues/223
Finds: wrong fake kernel or raised at run time
Cause: (?i)stride|fake|meta
Cure: (?i)stride|fake|contiguous|opcheck
Expects: graphs 1, breaks 0, recompiles 0
Run: --backend inductor
Lacks: cured
"""

import torch


@torch.library.custom_op("set6::attention_mask", mutates_args=())
def attention_mask(bias: torch.Tensor) -> torch.Tensor:
    return (bias > 0).float().contiguous()


@attention_mask.register_fake
def _(bias):
    return torch.empty_like(bias)


def model(x):
    bias = torch.tanh(x.permute(2, 0, 1))
    return attention_mask(bias) * 2 + 1


inputs = (torch.randn(5, 6, 8),)

# Cured


@attention_mask.register_fake
def _(bias):
    return torch.empty(bias.shape, dtype=bias.dtype)
