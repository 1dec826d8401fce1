"""Blocks take a tuple with other numbers of residuals.

Source: https://github.com/tdrussell/diffusion-pipe/issues/439
Finds: recompiles
Cause: len|length|number of|tuple|inputs
Cure: same (number|length)|fixed|pad|stack|one tensor|expected
Expects: recompiles 0
"""

import torch


def model(inputs):
    hidden, *residuals, scale = inputs
    for residual in residuals:
        hidden = hidden + residual
    return hidden * scale


calls = [((torch.ones(2, 4), *[torch.ones(2, 4)] * count, torch.ones(1)),) for count in (1, 2, 3, 4)]

# Cured


def model(hidden, residuals, scale):
    return (hidden + residuals.sum(0)) * scale


calls = [
    (torch.ones(2, 4), torch.cat([torch.ones(count, 2, 4), torch.zeros(4 - count, 2, 4)]), torch.ones(1))
    for count in (1, 2, 3, 4)
]
