"""The condition number of a singular matrix is infinite in one and large in the other.

Source: https://github.com/pytorch/pytorch/issues/150114
Finds: results differ
Cause: condition|rounding|singular
Cure: float64|double|pinv|regular
Expects: breaks 0, results other
Run: --backend inductor
"""

import torch


def model(x):
    return torch.linalg.cond(torch.arctan(x))


inputs = (torch.ones(2, 2),)


# Cured
def model(x):
    return torch.linalg.cond(torch.arctan(x) + torch.eye(2))


def confirmed():
    return bool(torch.allclose(torch.compile(model)(*inputs), model(*inputs), rtol=1e-3))
