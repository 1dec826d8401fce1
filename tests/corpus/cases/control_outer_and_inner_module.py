"""The modules of the introduction to `torch.compile`, in training.

Source: https://docs.pytorch.org/tutorials/intermediate/torch_compile_tutorial.html
"""

import torch


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)

    def forward(self, x):
        return torch.sigmoid(self.linear(x))


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.head = torch.nn.Linear(16, 2)

    def forward(self, x):
        return torch.relu(self.head(self.inner(x)))


model = Outer()
inputs = (torch.randn(4, 16),)
training = True
