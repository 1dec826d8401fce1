"""Export meets an `if` on a tensor's value.

Source: https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
Run: --script
Finds: branch in an export
Cause: tensor's value
Cure: torch.where
Expects: skipped 0
"""

import torch


class Scaled(torch.nn.Module):
    def forward(self, rows):
        if rows.sum() > 0:
            return rows * 2
        return rows


torch.export.export(Scaled(), (torch.ones(6, 3),))

# Cured
import torch


class Scaled(torch.nn.Module):
    def forward(self, rows):
        return torch.where(rows.sum() > 0, rows * 2, rows)


torch.export.export(Scaled(), (torch.ones(6, 3),))
