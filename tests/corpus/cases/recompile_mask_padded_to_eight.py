"""An attention mask is padded to a multiple of eight, but only if its length is not one.

Source: https://github.com/pytorch/pytorch/pull/150403
Finds: recompiles
Cause: % 8|multiple|length|size|shape|Mod
Cure: always|pad|without|branch|bucket|outside
Expects: recompiles 0
"""

import torch
import torch.nn.functional as F


def model(scores, mask):
    length = mask.shape[-1]
    if length % 8 != 0:
        mask = F.pad(mask, (0, 8 - length % 8), value=0.0)[..., :length]
    return (scores + mask).softmax(-1)


calls = [(torch.zeros(2, length), torch.linspace(-1, 0, 2 * length).view(2, length)) for length in (5, 8, 9, 16)]
torch_compile = {"dynamic": True}

# Cured


def model(scores, mask):
    length = mask.shape[-1]
    mask = F.pad(mask, (0, 8 - length % 8), value=0.0)[..., :length]
    return (scores + mask).softmax(-1)
