"""A batch comes as another dtype, as with mixed precision.

Source: https://github.com/pytorch/pytorch/issues/128134
Finds: recompiles
Cause: dtype|float16|Half
Cure: one dtype|cast
Expects: recompiles 0
"""

import torch


def model(x):
    return x.float() * 2


x = torch.randn(4, 8)
calls = [(x,), (x.half(),), (x,)]


# Cured
calls = [(x,), (x.half().float(),), (x,)]
