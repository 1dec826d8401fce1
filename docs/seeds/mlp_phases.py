"""A matmul, a bias and a ReLU, with a print between: the first is asked to be one kernel, the second ends a graph."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(64, 64)
        self.second = torch.nn.Linear(64, 10)

    def forward(self, x):
        x = torch.relu(self.first(x))
        print("hidden", x.shape)
        return self.second(x)


model = Model()
inputs = (torch.randn(32, 64),)
