"""A missing key of a dictionary is handled by an exception handler.

Source: https://github.com/pytorch/pytorch/issues/125866
"""

import torch

SCALES = {"first": 2.0}


class Scaled(torch.nn.Module):
    def __init__(self, names):
        super().__init__()
        self.names = names
        self.layers = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in names)

    def forward(self, rows):
        for name, layer in zip(self.names, self.layers, strict=True):
            try:
                scale = SCALES[name]
            except KeyError:
                scale = 1.0
            rows = torch.tanh(layer(rows)) * scale
        return rows


torch.manual_seed(0)
model = Scaled(["first", "second"])
inputs = (torch.ones(2, 3),)
training = True
