"""A model turns autograd's anomaly detection on around its own forward code.

Source: https://github.com/pytorch/pytorch/issues/93547
Finds: graph breaks at line 19
Cause: anomaly|context manager
Cure: outside|remove|around|before|call
Expects: breaks 0
"""

import torch


class Watched(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(5, 5) for _ in range(3))

    def forward(self, rows):
        with torch.autograd.set_detect_anomaly(True):
            for layer in self.layers:
                rows = torch.tanh(layer(rows))
        return rows.square().mean()


torch.manual_seed(0)
model = Watched()
inputs = (torch.ones(2, 5),)


# Cured
class Unwatched(Watched):
    def forward(self, rows):
        for layer in self.layers:
            rows = torch.tanh(layer(rows))
        return rows.square().mean()


torch.manual_seed(0)
model = Unwatched()
