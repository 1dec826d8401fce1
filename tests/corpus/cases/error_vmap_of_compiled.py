r"""vmap calls a function that was compiled with fullgraph.

Source: https://github.com/pytorch/pytorch/issues/128711
Finds: transform of compiled code
Cause: vmap|functorch
Cure: torch\.compile\(torch\.vmap|compile (the )?(outer|vmap|whole|result)|around|outside|outermost
Expects: breaks 0, graphs 1
Run: --script
"""

import torch


def wave(row):
    return row.sin() * row.sum()


compiled = torch.compile(wave, backend="aot_eager", fullgraph=True)
print(torch.vmap(compiled)(torch.ones(3, 4)))

# Cured
import torch


def wave(row):
    return row.sin() * row.sum()


compiled = torch.compile(torch.vmap(wave), backend="aot_eager", fullgraph=True)
print(compiled(torch.ones(3, 4)))
