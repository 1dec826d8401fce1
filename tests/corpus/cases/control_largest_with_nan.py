"""The index of the largest number is that of NaN, as in eager.

Source: https://github.com/pytorch/pytorch/issues/118266
Run: --backend inductor
"""

import torch


def model(x):
    return torch.argmax(torch.log1p(x))


inputs = (torch.tensor([-3.0, 4.0, 2.0, 9.0]),)
