"""A convolution with batch norm, trained.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html
Run: --backend aot_eager
"""

import torch

training = True
model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())
inputs = (torch.randn(2, 3, 8, 8),)
