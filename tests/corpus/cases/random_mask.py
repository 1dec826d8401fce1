"""The code draws a random mask, and Inductor draws other numbers than eager.

Source: https://github.com/pytorch/pytorch/issues/172207
Run: --backend inductor
Finds: random numbers
Cause: draws random numbers
Cure: fallback_random
Expects: skipped 0
"""

import torch


def model(rows):
    mask = torch.rand(rows.shape) > 0.3
    return rows.relu() * mask


inputs = (torch.ones(16, 8),)
