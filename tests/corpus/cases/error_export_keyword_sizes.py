r"""An export names the dynamic sizes of one input only, and the other is a keyword argument.

Source: https://github.com/pytorch/pytorch/issues/150371
Run: --script
Finds: input of an export
Cause: dynamic_shapes
Cure: an entry for|each input|all inputs|as many
Expects: skipped 0
"""

import torch


class Masked(torch.nn.Module):
    def forward(self, rows, mask=None):
        return rows * mask


count = torch.export.Dim("count")
torch.export.export(Masked(), (torch.rand(3),), {"mask": torch.ones(3)}, dynamic_shapes=({0: count},))

# Cured
import torch


class Masked(torch.nn.Module):
    def forward(self, rows, mask=None):
        return rows * mask


count = torch.export.Dim("count")
shapes = {"rows": {0: count}, "mask": {0: count}}
torch.export.export(Masked(), (torch.rand(3),), {"mask": torch.ones(3)}, dynamic_shapes=shapes)
