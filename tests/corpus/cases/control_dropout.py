"""Dropout in training, with a backend that draws the random numbers of eager.

Source: https://github.com/pytorch/pytorch/issues/158643
Run: --backend aot_eager
"""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.5))
inputs = (torch.ones(16, 8),)
