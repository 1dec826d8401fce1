"""The longest sequence of each batch is an int argument that makes a mask.

Source: https://github.com/pytorch/torchtitan/pull/2823
Finds: recompiles
Cause: longest
Cure: tensor|dynamic
Expects: recompiles 1
Run: --backend eager --no-dynamic
"""

import torch


def model(x, lengths, longest):
    mask = torch.arange(8) < lengths[:, None]
    return (x * mask).sum(1) / longest


x, lengths = torch.randn(3, 8), torch.tensor([2, 3, 1])
calls = [(x, lengths, longest) for longest in (3, 4, 5, 6, 7)]


# Cured
calls = [(x, lengths, torch.tensor(longest)) for longest in (3, 4, 5, 6, 7)]
