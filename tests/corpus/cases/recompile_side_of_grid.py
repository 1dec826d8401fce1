"""Positions are cut out of a grid by the image's height and width.

Source: https://github.com/pytorch/pytorch/issues/150702
Finds: recompiles
Cause: size|shape|dim
Cure: dynamic|mark_dynamic|pad
Expects: recompiles 1
Run: --backend eager --no-dynamic
"""

import torch


class Positions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(64, 4))

    def forward(self, image):
        height, width = image.shape[-2] // 2, image.shape[-1] // 2
        grid = self.table.view(8, 8, 4)
        start = (8 - height) // 2
        return grid[start : start + height, :width].flatten(0, 1).sum()


model = Positions()
calls = [(torch.randn(1, 3, 4, size),) for size in (4, 6, 8, 10)]


# Cured
torch_compile = {"dynamic": True}
