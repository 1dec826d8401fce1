"""A vector is added to the rows of a matrix by `index_add`.

Source: https://github.com/pytorch/pytorch/issues/94778
Run: --backend inductor
"""

import torch


def model(rows, values):
    indices = torch.tensor([0, 2, 2, 4])
    return torch.index_add(rows, 0, indices, values[:, None].expand(4, 5))


torch.manual_seed(0)
inputs = (torch.randn(5, 5), torch.randn(4))
