r"""An integer division by zero in a `try` block is not caught when it is compiled.

Source: https://github.com/pytorch/torchdynamo/issues/318
Finds: raised at run time or integer division by zero or results differ
Cause: (?i)zero|except|\btry\b
Cure: (?i)where|check|outside|cond|masked|eager|disable
Expects: graphs 1, breaks 0
"""

import torch


def model(x):
    try:
        return 1 // x
    except RuntimeError:
        return x + 2


calls = [(torch.tensor(1),), (torch.tensor(0),)]
inputs = calls[0]

# Cured


def model(x):
    divisor = torch.where(x == 0, 1, x)
    return torch.where(x == 0, x + 2, 1 // divisor)
