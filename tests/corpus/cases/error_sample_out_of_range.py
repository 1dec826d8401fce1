"""The sample of an export is larger than its dimension allows.

Source: https://github.com/pytorch/pytorch/pull/121063
Run: --script
Finds: sample outside of its range
Cause: `min` and `max`
Cure: within the range
Expects: skipped 0
"""

import torch

rows = torch.export.Dim("rows", max=4)
torch.export.export(torch.nn.Linear(3, 3), (torch.ones(6, 3),), dynamic_shapes=({0: rows},))

# Cured
import torch

rows = torch.export.Dim("rows", max=4)
torch.export.export(torch.nn.Linear(3, 3), (torch.ones(3, 3),), dynamic_shapes=({0: rows},))
