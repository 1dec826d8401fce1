r"""A bias has more rows than the product: eager mode refuses it, and the compiled code broadcasts the product.

Source: https://github.com/pytorch/pytorch/issues/195579
Finds: raised in eager
Cause: addmm|broadcast|expand|shape|size|eager.*(raises|error|refuses|rejects)|check
Cure: \+|add|shape|expand|check|valid
Expects: graphs 1, results other
Run: --backend inductor
"""

import torch


def model(bias, rows, weight):
    return torch.addmm(bias, rows, weight)


inputs = (torch.arange(6.0).view(6, 1), torch.ones(1, 1), torch.full((1, 1), 2.0))

# Cured


def model(bias, rows, weight):
    return bias + rows @ weight
