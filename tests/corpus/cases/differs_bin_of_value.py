"""Values on the edge of a bin get into the next one.

Source: https://github.com/pytorch/pytorch/issues/197895
Run: --backend inductor
Finds: results differ
Cause: floor|division|//|round
Cure: fmod|float64|eager|bucketize|searchsorted|integer
Expects: skipped 0
"""

import torch


class Histogram(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("width", torch.tensor(width))

    def forward(self, values):
        return torch.floor_divide(values, self.width).long()


model = Histogram(0.1)
inputs = (torch.tensor([1.0, 0.5, 0.25, 0.31, 0.75, 1.0, 0.5, 0.05]),)


# Cured
class Exact(Histogram):
    def forward(self, values):
        return ((values - torch.fmod(values, self.width)) / self.width).round().long()


model = Exact(0.1)
