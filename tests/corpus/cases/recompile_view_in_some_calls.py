"""An input is a view of another tensor in some calls.

Source: https://github.com/pytorch/pytorch/issues/129798
Finds: recompiles
Cause: stride
Cure: contiguous|dynamic|clone
Expects: recompiles 0
"""

import torch


def model(x):
    return x.sin() * 2


calls = [(torch.randn(4, columns)[:, :1],) for columns in (2, 3, 4, 5)]


# Cured
torch.manual_seed(0)
calls = [(torch.randn(4, columns)[:, :1].contiguous(),) for columns in (2, 3, 4, 5)]
