"""A lock is taken within forward.

Source: https://github.com/pytorch/pytorch/issues/141964
Finds: graph breaks at line 19
Cause: context manager|lock
Cure: around the call|outside of the compiled function
Expects: breaks 0, graphs 1
"""

import threading

import torch

lock = threading.Lock()


def model(x):
    y = x.sin()
    with lock:
        y = y.cos()
    return y


inputs = (torch.randn(4, 8),)


# Cured
def model(x):
    return x.sin().cos()
