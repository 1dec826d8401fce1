"""A multilayer perceptron: one graph.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html
"""

import torch

model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
inputs = (torch.randn(4, 8),)
