"""Repeated elements are flipped, and the sizes are dynamic.

Source: https://github.com/pytorch/pytorch/issues/187027
Run: --backend inductor
Finds: results differ
Cause: flip|repeat_interleave|dynamic|index|out.of.bounds
Cure: dynamic=False|static|expand|repeat|eager|clone
Expects: skipped 0
"""

import torch

torch_compile = {"dynamic": True}


def mirrored(rows):
    return torch.repeat_interleave((rows + 1).flatten(), 2).flip(0)


model = mirrored
torch.manual_seed(0)
inputs = (torch.randn(8, 8),)

# Cured
torch_compile = {"dynamic": False}
