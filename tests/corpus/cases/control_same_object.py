"""The code asks whether an argument is None, the same in all calls.

Source: https://github.com/pytorch/pytorch/issues/196173
"""

import torch


def model(rows, mask=None):
    if mask is None:
        return rows * 2
    return rows * mask


calls = [(torch.ones(4),)] * 3
