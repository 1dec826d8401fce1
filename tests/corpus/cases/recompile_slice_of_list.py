"""A list of layers' results grows with each step.

Source: https://github.com/rasbt/LLMs-from-scratch/pull/705
Finds: recompiles
Cause: len|length
Cure: pad|tensor|same length|stack
Expects: recompiles 0
"""

import torch


def model(x, cache):
    return x + torch.stack(cache).sum(0)


x = torch.randn(4)
calls = [(x, [x + step for step in range(length)]) for length in (1, 2, 3, 4)]


# Cured
calls = [(x, [x + step if step < length else x * 0 for step in range(4)]) for length in (1, 2, 3, 4)]
