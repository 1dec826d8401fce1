"""A step of gradient descent takes its rate as a float, which a warm-up changes in each step.

Source: https://github.com/pytorch/FBGEMM/pull/3287
Finds: recompiles
Cause: float|rate|number
Cure: tensor
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


def model(weight, grad, rate):
    return weight - rate * (grad + 0.01 * weight)


weight, grad = torch.randn(6, 6), torch.randn(6, 6)
calls = [(weight, grad, 0.02 * step) for step in range(1, 6)]

# Cured
calls = [(weight, grad, torch.tensor(0.02 * step)) for step in range(1, 6)]
