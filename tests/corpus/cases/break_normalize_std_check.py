r"""An image transform raises if any standard deviation is zero.

Source: https://github.com/pytorch/vision/pull/9314
Finds: graph breaks
Cause: data-dependent|depends on (the )?(data|values?)|value of (a|the) tensor|tensor's value|branch
Cure: _assert|torch\._check|outside|before|remove|assert
Expects: graphs 1, breaks 0
Not: capture_scalar_outputs
"""

import torch
from torch import Tensor, nn


def normalize(image: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    if not image.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {image.dtype}.")
    if (std == 0).any():
        raise ValueError("std evaluated to zero, leading to division by zero.")
    return image.sub(mean.view(-1, 1, 1)).div_(std.view(-1, 1, 1))


class Preprocess(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]))
        self.stem = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, images):
        return self.stem(normalize(images, self.mean, self.std))


model, inputs = Preprocess().eval(), (torch.rand(2, 3, 16, 16),)


# Cured
def normalize(image: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    if not image.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {image.dtype}.")
    torch._assert_async((std != 0).all(), "std evaluated to zero, leading to division by zero.")
    return image.sub(mean.view(-1, 1, 1)).div_(std.view(-1, 1, 1))
