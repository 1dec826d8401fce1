r"""An op that does not fit is tried, and the error is caught.

Source: https://github.com/pytorch/pytorch/pull/182972
Finds: graph breaks at line 15 or not compiled: failed
Cause: \btry\b|except|caught
Cure: shape|check
Expects: breaks 0
"""

import torch


def model(x, y):
    try:
        return x @ y
    except RuntimeError:
        return x @ y.T


inputs = (torch.ones(2, 3), torch.ones(4, 3))


# Cured
def model(x, y):
    return x @ y if x.shape[1] == y.shape[0] else x @ y.T
