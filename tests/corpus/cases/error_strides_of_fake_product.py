r"""The fake kernel of a product has other strides than the real one.

Source: https://github.com/KellerJordan/modded-nanogpt/pull/83
Finds: wrong fake kernel or raised at run time
Cause: (?i)stride|fake|meta
Cure: (?i)stride|fake|\.t\(\)|\.mT|transpose|opcheck|contiguous|empty_strided
Expects: graphs 1, breaks 0, recompiles 0
Run: --backend inductor
"""

import torch


@torch.library.custom_op("set6::mm_t", mutates_args=())
def mm_t(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (w.t() @ x.t()).t()


@mm_t.register_fake
def _(x, w):
    return x.new_empty(x.shape[0], w.shape[1])


def model(x, w):
    return torch.relu(mm_t(x * 2, w)) + 1


inputs = (torch.randn(4, 8), torch.randn(8, 6))

# Cured


@torch.library.custom_op("set6::mm_t_cured", mutates_args=())
def mm_t_cured(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (w.t() @ x.t()).t()


@mm_t_cured.register_fake
def _(x, w):
    return x.new_empty(w.shape[1], x.shape[0]).t()


def model(x, w):
    return torch.relu(mm_t_cured(x * 2, w)) + 1
