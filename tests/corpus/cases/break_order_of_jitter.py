"""Colors are changed in an order that is drawn for each batch.

Source: https://github.com/pytorch/vision/issues/8056
Finds: graph breaks
Cause: data-dependent|branch|order|iterat|value|randperm|item
Cure: outside|argument|python|fixed|pass|before|list|where
Expects: graphs 1, breaks 0, results other
"""

import torch
from torch import nn


class ColorJitter(nn.Module):
    def forward(self, images):
        factors = 0.8 + 0.4 * torch.rand(3)
        for index in torch.randperm(3):
            if index == 0:
                images = (images * factors[0]).clamp(0, 1)
            elif index == 1:
                mean = images.mean((1, 2, 3), keepdim=True)
                images = (mean + factors[1] * (images - mean)).clamp(0, 1)
            elif index == 2:
                gray = images.mean(1, keepdim=True)
                images = (gray + factors[2] * (images - gray)).clamp(0, 1)
        return images


model, inputs = ColorJitter(), (torch.rand(2, 3, 8, 8),)


# Cured
class ColorJitter(nn.Module):
    def forward(self, images, order: tuple[int, ...]):
        factors = 0.8 + 0.4 * torch.rand(3)
        for index in order:
            if index == 0:
                images = (images * factors[0]).clamp(0, 1)
            elif index == 1:
                mean = images.mean((1, 2, 3), keepdim=True)
                images = (mean + factors[1] * (images - mean)).clamp(0, 1)
            elif index == 2:
                gray = images.mean(1, keepdim=True)
                images = (gray + factors[2] * (images - gray)).clamp(0, 1)
        return images


model = ColorJitter()
inputs = (inputs[0], tuple(torch.randperm(3).tolist()))
