"""A function gets the weights as a parameter, and their moving average as a tensor.

Source: https://github.com/pytorch/pytorch/issues/135011
Finds: recompiles
Cause: type|Parameter|class
Cure: detach|data|same type|Parameter|both
Expects: recompiles 0
"""

import torch


def apply_weights(rows, weights):
    return torch.nn.functional.softplus(rows @ weights)


model = apply_weights
torch.manual_seed(0)
weights = torch.nn.Parameter(torch.randn(3, 2), requires_grad=False)
average = weights.detach().clone() * 0.9
rows = torch.randn(4, 3)
calls = [(rows, weights), (rows, average), (rows, weights)]

# Cured
calls = [(rows, weights.detach()), (rows, average), (rows, weights.detach())]
