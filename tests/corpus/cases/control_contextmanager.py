"""A context manager of `contextlib`, which older versions could not trace.

Source: https://github.com/pytorch/pytorch/issues/133483
"""

import contextlib

import torch

depth = 0


@contextlib.contextmanager
def deeper():
    global depth
    try:
        depth += 1
        yield
    finally:
        depth -= 1


def model(x):
    with deeper():
        return x + depth


inputs = (torch.randn(4, 8),)
