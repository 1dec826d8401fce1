r"""Export infers a dynamic dimension as a constant, since a reshape in the code fixes it.

Source: https://github.com/pytorch/pytorch/issues/140011
Run: --script
Finds: constant dimension
Cause: constant 6
Cure: by `\.shape`
Expects: skipped 0
"""

import torch


class Heads(torch.nn.Module):
    def forward(self, steps):
        return steps.reshape(6, 2, 4).sum(1)


length = torch.export.Dim("length")
torch.export.export(Heads(), (torch.randn(6, 8),), dynamic_shapes=({0: length},))

# Cured
import torch


class Heads(torch.nn.Module):
    def forward(self, steps):
        return steps.reshape(steps.shape[0], 2, 4).sum(1)


length = torch.export.Dim("length")
torch.export.export(Heads(), (torch.randn(6, 8),), dynamic_shapes=({0: length},))
