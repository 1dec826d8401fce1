"""A NumPy function that torch has no copy of is called.

Source: https://github.com/pytorch/pytorch/issues/105269
Finds: graph breaks at line 16
Cause: numpy|interp
Cure: outside|before
Expects: breaks 0
"""

import numpy as np
import torch


def model(x):
    y = np.sin(x)
    z = np.interp(y, [0.0, 1.0], [0.0, 10.0])
    return z + 1


inputs = (np.array([0.0, 0.5, 1.0]),)


# Cured
def model(x):
    y = np.sin(x)
    z = np.clip(y, 0.0, 1.0) * 10.0
    return z + 1
