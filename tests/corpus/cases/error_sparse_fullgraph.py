"""A sparse product is compiled with `fullgraph`.

Source: https://github.com/pytorch/pytorch/issues/130687
Finds: not compiled: failed
Cause: sparse
Cure: dense|index_add|outside|fullgraph|disable
Expects: graphs 1, breaks 0
Run: --backend eager --fullgraph
"""

import torch

rows, columns = torch.tensor([0, 1, 2]), torch.tensor([1, 2, 0])


def model(values, x):
    matrix = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (3, 3))
    return torch.sparse.mm(matrix, x)


inputs = (torch.tensor([1.0, 2.0, 3.0]), torch.ones(3, 2))


# Cured
def model(values, x):
    return torch.zeros(3, 2).index_add(0, rows, values[:, None] * x[columns])
