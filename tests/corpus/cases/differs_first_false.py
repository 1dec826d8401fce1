r"""The place of the first False in a mask is wrong.

Source: https://github.com/pytorch/pytorch/issues/184893
Run: --backend inductor
Finds: results differ
Cause: bool|min|argmin|index|indices
Cure: int|uint8|cast|to\(|eager
Expects: skipped 0
"""

import torch


def first_gap(visited):
    reached = visited.min(dim=0)
    return reached.values, reached.indices


model = first_gap
inputs = (torch.tensor([True, True, False, True, False]),)


# Cured
def model(visited):
    reached = visited.to(torch.int32).min(dim=0)
    return reached.values.bool(), reached.indices
