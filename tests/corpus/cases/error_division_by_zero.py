r"""An index is divided by a count that may be zero.

Source: https://github.com/pytorch/pytorch/issues/143649
Run: --script
Finds: integer division by zero
Cause: division by zero
Cure: torch\.where
Expects: skipped 0
"""

import torch


def share(total, count):
    return total // count


print(torch.compile(share)(torch.tensor([4, 6]), torch.tensor([2, 0])))

# Cured
import torch


def share(total, count):
    return total // torch.where(count == 0, 1, count)


print(torch.compile(share)(torch.tensor([4, 6]), torch.tensor([2, 0])))
