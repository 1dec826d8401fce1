"""Compiled code draws torch's random numbers in place of NumPy's.

Source: https://github.com/pytorch/pytorch/pull/145293
Run: --backend aot_eager
Finds: random numbers
Cause: NumPy's random numbers
Cure: use_numpy_random_stream
Expects: skipped 0
"""

import numpy as np
import torch


def model(rows):
    return rows + torch.from_numpy(np.random.randn(4))


inputs = (torch.zeros(4, dtype=torch.float64),)

# Cured
torch._dynamo.config.use_numpy_random_stream = True
