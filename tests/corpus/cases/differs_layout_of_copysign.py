"""`copysign` of a transposed tensor is contiguous when it is compiled, so that a view by strides differs.

Source: https://github.com/pytorch/pytorch/issues/198364
Finds: results differ or results may differ
Cause: (?i)stride|layout|as_strided|contiguous|copysign
Cure: (?i)contiguous|reshape|transpose|clone|as_strided
Expects: graphs 1, breaks 0, recompiles 0
Run: --backend inductor
Lacks: explained, cured
"""

import torch


def model(a, b):
    signed = torch.copysign(a, b)
    return torch.as_strided(signed, (30,), (1,))


inputs = (torch.rand(6, 5).mT, torch.rand(5, 6) - 0.5)

# Cured


def model(a, b):
    return torch.copysign(a, b).mT.reshape(30)
