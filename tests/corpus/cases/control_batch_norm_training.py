"""A network with batch norm is trained, and its running statistics change.

Source: https://github.com/pytorch/pytorch/issues/115774
Run: --training
"""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
training = True
inputs = (torch.randn(12, 6),)
