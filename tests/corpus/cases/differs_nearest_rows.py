"""Nearest interpolation takes other rows where the size does not change.

Source: https://github.com/pytorch/pytorch/issues/198201
Run: --backend inductor
Finds: results differ
Cause: interpolat|upsample|nearest|scale
Cure: size|recompute_scale_factor|eager|integer
Expects: skipped 0
"""

import torch


class Upsample(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, image):
        return torch.nn.functional.interpolate(image, scale_factor=self.scale, mode="nearest")


model = Upsample((1.3, 1.5))
inputs = (torch.arange(12.0).reshape(1, 1, 3, 4),)


# Cured
class Sized(Upsample):
    def forward(self, image):
        return torch.nn.functional.interpolate(image, size=(3, 6), mode="nearest")


model = Sized(None)
