"""Multilayer perceptron

The parameters become inputs of the graph. Each activation becomes a separate kernel, because the ops before
and after it are library calls.
"""

import torch
from torch import nn

group = "First steps"

model = nn.Sequential(
    nn.Linear(256, 512),
    nn.ReLU(),
    nn.Linear(512, 512),
    nn.Tanh(),
    nn.Linear(512, 10),
).eval()

inputs = (torch.randn(64, 256),)
