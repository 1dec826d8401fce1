"""Inductor returns the input's own memory for a result that eager returns as a new tensor.

Source: https://github.com/pytorch/pytorch/issues/195451
Run: --backend inductor
Finds: results differ
Cause: memory
Cure: aot_eager
Expects: skipped 0
"""

import torch


def model(rows):
    updated = torch.slice_scatter(rows, torch.ones(2, 4), 0, 0, 2)
    rows.copy_(updated)
    return updated


inputs = (torch.zeros(4, 4),)

# Cured
torch_compile = {"backend": "aot_eager"}
