"""Inductor reads a view of another dtype after the tensor below it was changed.

Source: https://github.com/pytorch/pytorch/issues/198101
Run: --backend inductor
Finds: results differ
Cause: output
Cure: aot_eager
Expects: skipped 0
"""

import torch


def model(rows):
    words = rows.view(torch.int32) * 2
    words.sub_(-4)
    rows[:, 2:5] = 2
    return words.view(torch.int64)


inputs = (torch.arange(-12, 12, dtype=torch.int64).reshape(4, 6),)

# Cured
torch_compile = {"backend": "aot_eager"}
