"""A product that does not fit falls back to another in an except block; under the compiler the exception is not caught.

Source: https://github.com/pytorch/pytorch/issues/175608
Finds: not compiled: failed or backend raised or raised at run time
Cause: except|try|caught|shape|fake
Cure: shape|if |before|outside|disable
Expects: graphs 1, breaks 0
"""

import torch


def model(x, weight):
    try:
        return x @ weight
    except RuntimeError:
        return x @ weight.T


inputs = (torch.ones(4, 8), torch.ones(3, 8))

# Cured


def model(x, weight):
    if x.shape[-1] == weight.shape[0]:
        return x @ weight
    return x @ weight.T
