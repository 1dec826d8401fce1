"""A rate in a tensor changes in each call.

Source: https://github.com/pytorch/pytorch/issues/149406
"""

import torch


def model(x, rate):
    return x * rate


x = torch.randn(4)
calls = [(x, torch.tensor(0.1 * step)) for step in range(1, 5)]
