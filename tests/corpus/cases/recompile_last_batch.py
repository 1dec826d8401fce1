"""The last batch of an epoch is smaller.

Source: https://github.com/pytorch/pytorch/issues/105279
Finds: recompiles
Cause: size
Cure: mark_dynamic|dynamic=True|drop_last
Expects: recompiles 0
"""

import torch


def model(x):
    return x.relu().mean(0)


calls = [(torch.randn(batch, 8),) for batch in (16, 16, 6)]
