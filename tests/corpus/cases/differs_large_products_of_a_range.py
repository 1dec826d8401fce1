"""A range times a billion overflows 32 bits in the compiled kernel.

Source: https://github.com/pytorch/pytorch/issues/175966
Finds: results differ
Cause: (?i)overflow|int32|32.bit|arange|integer
Cure: (?i)float64|outside|input|argument|eager|buffer
Expects: graphs 1, breaks 0, recompiles 0
Run: --backend inductor
Lacks: explained
"""

import torch


def model(x):
    return torch.arange(0, 11, dtype=torch.int64) * torch.tensor([int(1e9)], dtype=torch.int64) + x


inputs = (torch.zeros(1, dtype=torch.int64),)

# Cured


def model(x, steps):
    return steps * torch.tensor([int(1e9)], dtype=torch.int64) + x


inputs = (inputs[0], torch.arange(0, 11, dtype=torch.int64))
