"""Export with one name for two dimensions that are equal, and a sample of five rows.

Source: https://github.com/pytorch/pytorch/pull/99993
Run: --script
"""

import torch


class Masked(torch.nn.Module):
    def forward(self, tokens, mask):
        return tokens * mask


length = torch.export.Dim("length")
torch.export.export(Masked(), (torch.randn(5, 4), torch.ones(5, 4)), dynamic_shapes=({0: length}, {0: length}))
