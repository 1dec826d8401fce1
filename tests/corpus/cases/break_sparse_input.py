"""A sparse matrix is an input.

Source: https://github.com/pytorch/pytorch/issues/169119
Finds: graph breaks or not compiled: given up or not compiled
Cause: sparse
Cure: dense|outside|disable
Expects: breaks 0, graphs 1
"""

import torch


def model(matrix, x):
    return (matrix @ x).relu() + 1


inputs = (torch.eye(4).to_sparse_csr(), torch.ones(4, 3))


# Cured
inputs = (torch.eye(4), torch.ones(4, 3))
