"""A custom op writes its argument without saying so, and compiled code loses the write.

Source: https://github.com/pytorch/pytorch/issues/124918
Run: --backend inductor
Finds: results differ
Cause: mutates_args
Cure: mutates_args
Expects: skipped 0
"""

import torch


@torch.library.custom_op("corpus::written", mutates_args=())
def written(rows: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(rows * 2)


@written.register_fake
def _(rows, out):
    return None


def model(rows):
    out = torch.zeros_like(rows)
    written(rows, out)
    return out + 1


inputs = (torch.ones(4),)

# Cured


@torch.library.custom_op("corpus::written_as_said", mutates_args=("out",))
def written_as_said(rows: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(rows * 2)


@written_as_said.register_fake
def _(rows, out):
    return None


def model(rows):
    out = torch.zeros_like(rows)
    written_as_said(rows, out)
    return out + 1
