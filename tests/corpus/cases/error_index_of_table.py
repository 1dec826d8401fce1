r"""Compiled code reads a row that the table does not have.

Source: https://github.com/pytorch/pytorch/issues/111952
Run: --script
Finds: index out of bounds
Cause: outside of a dimension of size 10
Cure: size of the table
Expects: skipped 0, results other
"""

import torch

table = torch.nn.Embedding(10, 4)
print(torch.compile(table)(torch.tensor([1, 12])).shape)

# Cured
import torch

table = torch.nn.Embedding(13, 4)
print(torch.compile(table)(torch.tensor([1, 12])).shape)
