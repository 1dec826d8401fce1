r"""An input is contiguous in one call and a slice in the next.

Source: https://github.com/pytorch/pytorch/issues/160271
Finds: recompiles
Cause: stride|layout|contiguous
Cure: contiguous\(\)|same layout|clone
Expects: recompiles 0
"""

import torch


def model(x):
    return x * 2 + 1


x = torch.randn(4, 16)
calls = [(x[:, :8].contiguous(),), (x[:, :8],)]


# Cured
calls = [(x[:, :8].contiguous(),), (x[:, :8].contiguous(),)]
