"""Batch normalization in training changes its running statistics.

Source: https://github.com/pytorch/pytorch/issues/141827
Run: --backend aot_eager
"""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())
inputs = (torch.randn(2, 3, 8, 8),)
training = True
