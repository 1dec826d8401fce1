r"""The code joins two neighbouring rows, so that the number of rows must be even.

Source: https://github.com/pytorch/pytorch/pull/102897
Run: --script
Finds: derived dimension
Cause: rows = 2\*
Cure: Derive the dimension
Expects: skipped 0
"""

import torch


class Pairs(torch.nn.Module):
    def forward(self, rows):
        return rows.reshape(rows.shape[0] // 2, 2, 4).sum(1)


rows = torch.export.Dim("rows")
torch.export.export(Pairs(), (torch.randn(6, 4),), dynamic_shapes=({0: rows},))

# Cured
import torch


class Pairs(torch.nn.Module):
    def forward(self, rows):
        return rows.reshape(rows.shape[0] // 2, 2, 4).sum(1)


half = torch.export.Dim("half")
torch.export.export(Pairs(), (torch.randn(6, 4),), dynamic_shapes=({0: 2 * half},))
