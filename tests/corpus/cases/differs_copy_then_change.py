"""Inductor copies a slice after its source was changed in place.

Source: https://github.com/pytorch/pytorch/issues/198131
Run: --backend inductor
Finds: results differ
Cause: input 0
Cure: aot_eager
Expects: skipped 0
"""

import torch


def model(target, source):
    target[0:, :] = source[0:, :]
    source.add_(1)
    return source


inputs = (torch.zeros(3, 4), torch.arange(12.0).view(3, 4))

# Cured
torch_compile = {"backend": "aot_eager"}
