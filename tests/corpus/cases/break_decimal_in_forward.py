"""An object of a type that is written in C is made in the forward pass.

Source: https://github.com/pytorch/pytorch/issues/195901
Finds: graph breaks at line 21
Cause: (?i)decimal|C (type|extension)|constructor|__new__
Cure: (?i)float|outside|before|__init__|once|move
Expects: graphs 1, breaks 0, recompiles 0
"""

import decimal

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.linear(x)
        rate = decimal.Decimal("0.1") * 3
        return x * float(rate)


model = Model()
inputs = (torch.randn(2, 4),)

# Cured


class Cured(Model):
    def forward(self, x):
        return self.linear(x) * 0.3


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
