"""A custom operator changes its arguments, but declares that it changes none.

Source: https://github.com/pytorch/pytorch/issues/129372
Finds: results differ or custom op schema or raised in eager or raised at run time
Cause: (?i)mutat|in.?place|declare|schema|changes its
Cure: (?i)mutates_args|declare|clone|return
Expects: graphs 1, breaks 0, recompiles 0
Run: --backend aot_eager
"""

import torch


@torch.library.custom_op("set6::sine_both", mutates_args=())
def sine_both(x: torch.Tensor, y: torch.Tensor) -> None:
    x.sin_()
    y.sin_()


@sine_both.register_fake
def _(x, y):
    return None


def model(x, y):
    x = x + 1
    y = y + 1
    sine_both(x, y)
    return x * y


inputs = (torch.randn(4), torch.randn(4))

# Cured


@torch.library.custom_op("set6::sine_both_cured", mutates_args={"x", "y"})
def sine_both_cured(x: torch.Tensor, y: torch.Tensor) -> None:
    x.sin_()
    y.sin_()


@sine_both_cured.register_fake
def _(x, y):
    return None


def model(x, y):
    x = x + 1
    y = y + 1
    sine_both_cured(x, y)
    return x * y
