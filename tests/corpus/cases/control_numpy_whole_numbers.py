"""An array is cast to int in a compiled NumPy function.

Source: https://github.com/pytorch/pytorch/issues/105052
"""

import numpy as np


def model(x):
    return x.astype(int) * 2


inputs = (np.linspace(0, 9, 7),)
