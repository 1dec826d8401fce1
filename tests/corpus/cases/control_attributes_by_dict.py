"""A small record of the user sets its attributes by `__dict__`.

Source: https://github.com/pytorch/pytorch/issues/143756
"""

import torch
from torch import nn


class Data:
    def __init__(self, **stores):
        for name, value in stores.items():
            self.__dict__[name] = value


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x, edge_index):
        data = Data(x=self.lin(x), edge_index=edge_index)
        source, target = data.edge_index
        return torch.zeros_like(data.x).index_add(0, target, data.x[source])


model = Conv().eval()
calls = [(torch.randn(6, 4), torch.randint(6, (2, 9))) for _ in range(3)]
