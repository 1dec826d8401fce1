"""Multilayer perceptron

The first real module: parameters become inputs of the graph, each activation becomes a kernel of its own, because a
library call stands before and after it.
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
