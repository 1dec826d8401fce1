"""An assertion fails in a `try` block, and the rest is one graph.

Source: https://github.com/pytorch/pytorch/issues/112865
"""

import torch


def model(x):
    x = torch.relu(x) + 1
    try:
        raise AssertionError()
    except AssertionError:
        pass
    return x * 2


inputs = (torch.randn(6),)
