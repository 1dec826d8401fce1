"""Test-time augmentation resizes the images by several factors.

Source: https://github.com/pytorch/pytorch/issues/147261
Finds: recompiles
Cause: scale|factor|float
Cure: size|outside|tensor|before
Expects: recompiles 1
"""

import torch

torch.manual_seed(0)


class Resized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 2, 3, padding=1)

    def forward(self, images, factor):
        resized = torch.nn.functional.interpolate(images, scale_factor=factor, mode="nearest")
        return self.conv(resized).mean((-1, -2))


model = Resized()
images = torch.randn(1, 3, 8, 8)
factors = (1.25, 1.5, 2.0, 2.5)
calls = [(images, factor) for factor in factors]


# Cured
class Sized(Resized):
    def forward(self, images, size):
        resized = torch.nn.functional.interpolate(images, size=(size, size), mode="nearest")
        return self.conv(resized).mean((-1, -2))


torch.manual_seed(0)
model = Sized()
calls = [(images, int(8 * factor)) for factor in factors]
