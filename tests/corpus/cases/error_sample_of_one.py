"""Export makes a dynamic batch a constant, since the sample has one row.

Source: https://github.com/pytorch/pytorch/issues/133653
Run: --script
Finds: sample size
Cause: sizes 0 and 1 constants
Cure: 2 or more
Expects: skipped 0
"""

import torch

network = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8)).eval()
rows = torch.export.Dim("rows", max=64)
torch.export.export(network, (torch.randn(1, 8),), dynamic_shapes=({0: rows},))

# Cured
import torch

network = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8)).eval()
rows = torch.export.Dim("rows", max=64)
torch.export.export(network, (torch.randn(2, 8),), dynamic_shapes=({0: rows},))
