"""The fake implementation of a pooling operator has another size than the operator.

Source: https://github.com/pytorch/pytorch/issues/149732
Run: --script
Finds: wrong fake kernel
Cause: fake|meta|size|stride
Cure: register_fake|fake|opcheck|new_empty|empty
Expects: skipped 0
"""

import torch


@torch.library.custom_op("unseen::every_other", mutates_args=())
def every_other(rows: torch.Tensor) -> torch.Tensor:
    return rows[::2].clone()


@every_other.register_fake
def _(rows):
    return torch.empty_like(rows)


@torch.compile
def pooled(rows):
    return torch.relu(every_other(rows.sin()))


print(pooled(torch.arange(8.0)))

# Cured
import torch


@torch.library.custom_op("unseen::every_second", mutates_args=())
def every_other(rows: torch.Tensor) -> torch.Tensor:
    return rows[::2].clone()


@every_other.register_fake
def _(rows):
    return rows.new_empty((rows.shape[0] + 1) // 2, *rows.shape[1:])


@torch.compile
def pooled(rows):
    return torch.relu(every_other(rows.sin()))


print(pooled(torch.arange(8.0)))
