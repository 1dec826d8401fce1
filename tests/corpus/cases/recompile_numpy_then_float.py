r"""A guidance scale comes as NumPy's float from a schedule, and as Python's float from the user.

Source: https://github.com/pytorch/pytorch/issues/130920
Finds: recompiles
Cause: type|numpy|float
Cure: tensor|float\(|same type|convert|one type
Expects: recompiles 0
"""

import numpy as np
import torch


def guided(unconditional, conditional, scale):
    return unconditional + scale * (conditional - unconditional)


model = guided
a, b = torch.randn(2, 4, 8), torch.randn(2, 4, 8)
calls = [(a, b, scale) for scale in (np.float32(1.5), 7.5, np.float64(3.25), 7)]

# Cured
calls = [(a, b, torch.tensor(float(scale))) for scale in (np.float32(1.5), 7.5, np.float64(3.25), 7)]
