r"""A linear layer takes half precision when compiled, and raises without.

Source: https://github.com/pytorch/pytorch/issues/141865
Finds: two dtypes
Cause: dtype|float16|half|eager
Cure: float\(|dtype|half|to\(
Expects: breaks 0
Run: --backend inductor
"""

import torch

model = torch.nn.Linear(1, 1)
inputs = (torch.ones(1, 1, dtype=torch.float16),)


# Cured
inputs = (torch.ones(1, 1),)
