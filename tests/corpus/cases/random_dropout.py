"""Dropout in training keeps other elements in compiled code than in eager.

Source: https://github.com/pytorch/pytorch/issues/158643
Run: --backend inductor
Finds: random numbers
Cause: draws random numbers
Cure: fallback_random
Expects: skipped 0
"""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.5))
inputs = (torch.ones(16, 8),)
