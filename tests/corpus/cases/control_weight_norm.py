"""A convolution with weight normalization is one graph.

Source: https://github.com/pytorch/pytorch/issues/121902
"""

import torch
from torch.nn.utils.parametrizations import weight_norm

model = weight_norm(torch.nn.Conv1d(8, 4, 3), dim=0)
inputs = (torch.randn(1, 8, 20),)
