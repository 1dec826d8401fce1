"""Padded batches of other lengths, with `dynamic=False`.

Source: https://github.com/kijai/ComfyUI-KJNodes/pull/454
Finds: recompiles
Cause: size
Cure: dynamic
Expects: recompiles 1
"""

import torch

torch_compile = {"dynamic": False}


def model(x):
    return x.sin().sum(1)


calls = [(torch.randn(2, length),) for length in (5, 7, 9, 11)]


# Cured
torch_compile = {"dynamic": None}
