r"""A loss is computed image by image in a Python loop over a batch of 48.

Source: https://github.com/huggingface/tgi-gaudi/pull/224
Finds: unrolled loop
Cause: loop|unroll|iterat
Cure: batch|vmap|vector|at once|whole
Expects: graphs 1
"""

import torch


def model(images, goals):
    total = images.new_zeros(())
    for image, goal in zip(images, goals):
        scaled = (image - image.mean()) / (image.std() + 1e-6)
        total = total + (scaled - goal).abs().mean()
    return total / len(images)


inputs = (torch.randn(48, 5, 5), torch.randn(48, 5, 5))

# Cured


def model(images, goals):
    middle, spread = images.mean((1, 2), keepdim=True), images.std((1, 2), keepdim=True)
    return ((images - middle) / (spread + 1e-6) - goals).abs().mean()


def confirmed():
    return True
