"""The module of explore_fx_graph.py, as a model."""

import torch


class SimpleModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 32)

    def forward(self, x):
        x = self.linear(x)
        x = torch.relu(x)
        return x


model = SimpleModel()
inputs = (torch.randn(8, 64),)
