"""A condition on the size of a dynamic dimension limits what export can promise.

Source: https://github.com/pytorch/pytorch/issues/121038
Run: --script
Finds: sizes of one branch
Cause: condition of the code
Cure: Give the dimension this range
Expects: skipped 0
"""

import torch


class Long(torch.nn.Module):
    def forward(self, rows):
        if rows.shape[0] > 8:
            return rows * 2
        return rows + 1


rows = torch.export.Dim("rows")
torch.export.export(Long(), (torch.ones(6, 3),), dynamic_shapes=({0: rows},))

# Cured
import torch


class Long(torch.nn.Module):
    def forward(self, rows):
        if rows.shape[0] > 8:
            return rows * 2
        return rows + 1


rows = torch.export.Dim("rows", max=8)
torch.export.export(Long(), (torch.ones(6, 3),), dynamic_shapes=({0: rows},))
