"""A negative padding and a minimum compile on the CPU.

Source: https://github.com/pytorch/pytorch/issues/96484
Run: --backend inductor
"""

import torch
import torch.nn.functional as F


def model(a, b):
    a = F.pad(a, (0, -1))
    return (a + b).min(0).values


inputs = (torch.rand(9), torch.rand(8))
