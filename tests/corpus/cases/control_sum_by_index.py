"""`index_add` with a factor gives the eager result.

Source: https://github.com/pytorch/pytorch/issues/108963
Run: --backend inductor
"""

import torch


def model(source):
    total = torch.zeros(4, dtype=torch.double)
    index = torch.tensor([0, 2, 2])
    return total.index_add(0, index, source, alpha=2.0) / 2


inputs = (torch.rand(3, dtype=torch.double),)
