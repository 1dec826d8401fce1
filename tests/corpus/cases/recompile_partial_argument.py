"""A loss gets its activation as a partial that the caller makes anew, with another keyword each time.

Source: https://github.com/pytorch/pytorch/pull/110639
Finds: recompiles or near the recompile limit
Cause: partial|closure|function|keyword|alpha|float|number
Cure: tensor|once|reuse|same|argument|outside
Expects: graphs 1, breaks 0, recompiles 0
"""

from functools import partial

import torch


def soft(x, alpha):
    return torch.log1p(torch.exp(alpha * x)) / alpha


def model(x, activation):
    return activation(x).mean()


x = torch.randn(16)
calls = [(x, partial(soft, alpha=0.5 * step)) for step in range(1, 6)]

# Cured: the number is a tensor
calls = [(x, partial(soft, alpha=torch.tensor(0.5 * step))) for step in range(1, 6)]
