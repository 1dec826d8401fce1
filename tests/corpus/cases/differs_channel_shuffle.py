r"""Channels of images in channels_last are shuffled: the compiled result has the contiguous layout.

Source: https://github.com/pytorch/pytorch/issues/197109
Finds: other strides
Cause: stride|layout|memory.format|channels_last|contiguous
Cure: contiguous\(|memory_format|channels_last|clone
Expects: graphs 1
Run: --backend inductor
"""

import torch
import torch.nn.functional as F


def model(images):
    return F.channel_shuffle(images, 2)


inputs = (torch.arange(72.0).view(2, 4, 3, 3).to(memory_format=torch.channels_last),)

# Cured


def model(images):
    return F.channel_shuffle(images, 2).contiguous(memory_format=torch.channels_last)
