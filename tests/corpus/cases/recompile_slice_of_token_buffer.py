"""The tokens are now a slice of a buffer that was allocated before, now a tensor of their own.

Source: https://github.com/sgl-project/sglang/pull/23428
Finds: recompiles
Cause: view|slice|_base|storage
Cure: clone|contiguous|copy|same
Expects: recompiles 0
"""

import torch

buffer = torch.arange(32) % 12


def model(tokens):
    inside = (tokens >= 4) & (tokens < 8)
    return torch.where(inside, tokens - 4, 0), ~inside


calls = [(buffer[:6],), (torch.arange(7),), (buffer[:9],)]
torch_compile = {"dynamic": True}

# Cured
calls = [(buffer[:6].clone(),), (torch.arange(7),), (buffer[:9].clone(),)]
