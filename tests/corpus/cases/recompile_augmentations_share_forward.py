"""Ten augmentations, each compiled by itself, inherit one forward.

Source: https://github.com/kornia/kornia/issues/4658
Finds: recompiles or not compiled: over the limit or near the recompile limit
Cause: type|class|share|same (code|function|forward)|inherit|instance
Cure: isolate_recompiles|whole|Sequential|together|once|one function|own forward|recompile_limit
Expects: recompiles 0
Run: --script
"""

import torch
from torch import nn


class Augmentation(nn.Module):
    def forward(self, images):
        return self.apply_transform(images).clamp(0, 1)


def augmentation(name, function):
    return type(name, (Augmentation,), {"apply_transform": lambda self, images: function(images)})()


augmentations = [
    augmentation("Invert", lambda images: 1 - images),
    augmentation("Brightness", lambda images: images + 0.1),
    augmentation("Contrast", lambda images: images * 1.2),
    augmentation("Gamma", lambda images: images**0.8),
    augmentation("HorizontalFlip", lambda images: images.flip(-1)),
    augmentation("VerticalFlip", lambda images: images.flip(-2)),
    augmentation("Transpose", lambda images: images.transpose(-1, -2)),
    augmentation("Solarize", lambda images: torch.where(images > 0.5, 1 - images, images)),
    augmentation("Gray", lambda images: images.mean(1, keepdim=True).expand_as(images)),
    augmentation("Roll", lambda images: images.roll(1, -1)),
]
compiled = [torch.compile(each, backend="eager") for each in augmentations]
images = torch.linspace(0, 1, 96).view(2, 3, 4, 4)
for each in compiled:
    images = each(images)

# Cured
import torch
from torch import nn


class Augmentation(nn.Module):
    def forward(self, images):
        return self.apply_transform(images).clamp(0, 1)


def augmentation(name, function):
    return type(name, (Augmentation,), {"apply_transform": lambda self, images: function(images)})()


augmentations = [
    augmentation("Invert", lambda images: 1 - images),
    augmentation("Brightness", lambda images: images + 0.1),
    augmentation("Contrast", lambda images: images * 1.2),
    augmentation("Gamma", lambda images: images**0.8),
    augmentation("HorizontalFlip", lambda images: images.flip(-1)),
    augmentation("VerticalFlip", lambda images: images.flip(-2)),
    augmentation("Transpose", lambda images: images.transpose(-1, -2)),
    augmentation("Solarize", lambda images: torch.where(images > 0.5, 1 - images, images)),
    augmentation("Gray", lambda images: images.mean(1, keepdim=True).expand_as(images)),
    augmentation("Roll", lambda images: images.roll(1, -1)),
]
compiled = torch.compile(nn.Sequential(*augmentations), backend="eager")
images = compiled(torch.linspace(0, 1, 96).view(2, 3, 4, 4))
