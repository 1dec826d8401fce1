"""In-place arithmetic on what evaluation-mode dropout returns does not reach the caller's tensor.

Source: https://github.com/pytorch/pytorch/issues/195422
Run: --backend inductor
Finds: results differ
Cause: memory of input 0
Cure: on the input itself
Expects: skipped 0
"""

import torch


def model(rows):
    kept = torch.nn.functional.dropout(rows, 0.5, False)
    kept += kept
    return kept


inputs = (torch.ones(2, 2),)

# Cured


def model(rows):
    kept = rows
    kept += kept
    return kept
