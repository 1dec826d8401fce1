"""Adding zeros does not make a negative zero positive.

Source: https://github.com/pytorch/pytorch/issues/189799
Run: --backend inductor
Finds: results differ
Cause: zero|sign|add
Cure: where|abs|eager
Expects: skipped 0
"""

import torch


def inverse_of_rounded(rows, offset):
    rounded = torch.ceil(rows)
    shifted = rounded + torch.zeros_like(rounded)
    return torch.reciprocal(shifted) * offset


model = inverse_of_rounded
inputs = (torch.tensor([-0.5, -0.1, 1.5, -0.9]), torch.tensor(2.0))


# Cured
def model(rows, offset):
    rounded = torch.ceil(rows)
    return torch.reciprocal(torch.where(rounded == 0, 0.0, rounded)) * offset
