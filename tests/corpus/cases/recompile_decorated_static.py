r"""A decorator with `dynamic=False` compiles a graph for each length of a sequence.

Source: https://github.com/kijai/ComfyUI-KJNodes/pull/454
Run: --script
Finds: not compiled: over the limit
Cause: dimension 0 of `x` changed size
Cure: leave it out
Expects: recompiles 1, skipped 0
Not: pad inputs
"""

import torch


@torch.compile(backend="eager", dynamic=False)
def score(x):
    return (x * 2).sum()


print([score(torch.ones(length)).item() for length in range(2, 14)])

# Cured
import torch


@torch.compile(backend="eager")
def score(x):
    return (x * 2).sum()


print([score(torch.ones(length)).item() for length in range(2, 14)])
