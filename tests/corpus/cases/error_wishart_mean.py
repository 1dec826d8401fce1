"""A distribution reads a number from its tensor of degrees.

Source: https://github.com/pytorch/pytorch/issues/194596
Finds: not compiled: failed
Cause: data|branch|number|item
Cure: number|outside|fullgraph|capture_scalar
Expects: breaks 0
Run: --backend eager --fullgraph
"""

import torch
from torch.distributions import Wishart


def model(degrees, covariance):
    return Wishart(df=degrees, covariance_matrix=covariance).mean


inputs = (torch.tensor(5.0), torch.eye(2))


# Cured
def model(degrees, covariance):
    return degrees * covariance
