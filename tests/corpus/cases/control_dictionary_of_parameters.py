"""A module adds a parameter of its `ParameterDict`.

Source: https://github.com/pytorch/pytorch/issues/99735
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parameter_dict = torch.nn.ParameterDict({"foo": torch.nn.Parameter(torch.zeros(1, 1, 8))})

    def forward(self, x):
        return self.parameter_dict["foo"] + x


model = Model()
inputs = (torch.randn(2, 3, 8),)
training = True
