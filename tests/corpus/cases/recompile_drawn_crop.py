"""A crop is drawn for each batch, whose place and clip limit reach the model as Python numbers.

Source: https://github.com/kornia/kornia/pull/4659
Finds: recompiles or near the recompile limit or not compiled: over the limit
Cause: top|left|limit|number|constant|float|int
Cure: tensor
Expects: recompiles 0
"""

import torch


def model(images, top, left, limit):
    return images[..., top : top + 4, left : left + 4].clamp(max=limit)


calls = [
    (torch.linspace(0, 1, 64).view(1, 8, 8), top, left, limit)
    for top, left, limit in ((0, 2, 0.5), (3, 1, 0.625), (1, 0, 0.75), (4, 4, 0.875))
]

# Cured


def model(images, top, left, limit):
    side = torch.arange(4)
    return images[..., top + side[:, None], left + side].minimum(limit)


calls = [
    (torch.linspace(0, 1, 64).view(1, 8, 8), torch.tensor(top), torch.tensor(left), torch.tensor(limit))
    for top, left, limit in ((0, 2, 0.5), (3, 1, 0.625), (1, 0, 0.75), (4, 4, 0.875))
]
