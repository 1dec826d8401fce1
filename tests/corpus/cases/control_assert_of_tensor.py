"""An `assert` on a tensor, which torch checks in the graph.

Source: https://github.com/pytorch/pytorch/issues/96529
"""

import torch


def model(x):
    assert (x < 100).all(), "too large"
    return x + 1


inputs = (torch.randn(4, 8),)
