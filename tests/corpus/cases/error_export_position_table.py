"""A dimension that is declared dynamic is a constant in the model.

Source: https://github.com/pytorch/executorch/issues/1379
Finds: constant dimension
Cause: constant|specializ
Cure: Dim.AUTO|shape|size|remove
Expects: breaks 0
Run: --script
"""

import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros(7, 4)

    def forward(self, x):
        return x + self.table


x = torch.ones(2, 7, 4)
program = torch.export.export(Encoder(), (x,), dynamic_shapes={"x": {1: torch.export.Dim("length", max=64)}})
print(program.module()(x).sum().item())


# Cured
import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros(64, 4)

    def forward(self, x):
        return x + self.table[: x.shape[1]]


x = torch.ones(2, 7, 4)
program = torch.export.export(Encoder(), (x,), dynamic_shapes={"x": {1: torch.export.Dim("length", max=64)}})
print(program.module()(x).sum().item())
