r"""A flow is compiled, and only its other method is called.

Source: https://github.com/pytorch/pytorch/issues/141616
Run: --script
Finds: not called
Cause: forward|not compiled|never compiled|no graph|method
Cure: inverse|method|torch\.compile\(|forward
Expects: graphs 1
"""

import torch


class Flow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = torch.nn.Parameter(torch.full((4, 3), 0.5))

    def forward(self, rows):
        for scale in self.scales:
            rows = torch.sinh(rows * scale.exp())
        return rows

    def inverse(self, rows):
        for scale in self.scales.flip(0):
            rows = torch.asinh(rows) / scale.exp()
        return rows


flow = torch.compile(Flow(), backend="eager")
for _ in range(3):
    samples = flow.inverse(torch.ones(5, 3))


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


# Cured
import torch


class Flow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = torch.nn.Parameter(torch.full((4, 3), 0.5))

    def forward(self, rows):
        for scale in self.scales:
            rows = torch.sinh(rows * scale.exp())
        return rows

    def inverse(self, rows):
        for scale in self.scales.flip(0):
            rows = torch.asinh(rows) / scale.exp()
        return rows


flow = Flow()
flow.inverse = torch.compile(flow.inverse, backend="eager")
for _ in range(3):
    samples = flow.inverse(torch.ones(5, 3))


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
