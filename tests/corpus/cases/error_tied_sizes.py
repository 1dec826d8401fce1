"""Export gets two dimensions with names of their own, and the code needs them to be equal.

Source: https://github.com/pytorch/pytorch/pull/99993
Run: --script
Finds: tied dimensions
Cause: must be equal
Cure: one `Dim`
Expects: skipped 0
"""

import torch


class Masked(torch.nn.Module):
    def forward(self, tokens, mask):
        return tokens * mask


length, kept = torch.export.Dim("length"), torch.export.Dim("kept")
torch.export.export(Masked(), (torch.randn(5, 4), torch.ones(5, 4)), dynamic_shapes=({0: length}, {0: kept}))

# Cured
import torch


class Masked(torch.nn.Module):
    def forward(self, tokens, mask):
        return tokens * mask


length = torch.export.Dim("length")
torch.export.export(Masked(), (torch.randn(5, 4), torch.ones(5, 4)), dynamic_shapes=({0: length}, {0: length}))
