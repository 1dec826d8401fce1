"""A custom op that names the argument which it changes.

Source: https://github.com/pytorch/pytorch/issues/153389
Run: --backend aot_eager
"""

import torch


@torch.library.custom_op("corpus::added_to", mutates_args={"total"})
def added_to(total: torch.Tensor, rows: torch.Tensor) -> None:
    total.add_(rows)


def model(total, rows):
    added_to(total, rows)
    return total * 2


inputs = (torch.ones(4), torch.ones(4))
