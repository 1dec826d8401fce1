"""The mode for CUDA graphs is used on a CPU, which has none.

Source: https://github.com/pytorch/pytorch/issues/128424
Run: --backend inductor --mode reduce-overhead
Finds: CUDA graphs skipped
Cause: CUDA graph
Cure: leave out
Expects: graphs 1
"""

import torch


def model(rows):
    return rows.sin()


inputs = (torch.ones(4),)

# Cured
torch_compile = {"mode": None}
