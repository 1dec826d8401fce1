"""A sparse matrix is made in the compiled function.

Source: https://github.com/pytorch/pytorch/issues/171865
Finds: graph breaks at line 16
Cause: sparse
Cure: outside|before|dense
Expects: breaks 0
"""

import torch

starts, columns = torch.tensor([0, 2, 4]), torch.tensor([0, 1, 0, 1])


def model(values, x):
    matrix = torch.sparse_csr_tensor(starts, columns, values, size=(2, 2))
    return matrix @ x + 1


inputs = (torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.randn(2, 3))


# Cured
rows = torch.tensor([0, 0, 1, 1])


def model(values, x):
    matrix = torch.zeros(2, 2).index_put((rows, columns), values)
    return matrix @ x + 1
