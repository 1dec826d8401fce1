r"""A model is compiled in place, and the loop calls its `forward` method.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
Run: --script
Finds: not called
Cause: never called
Cure: not `model\.forward
Not: Call what it returns
Expects: graphs 1
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, rows):
        return self.layer(rows).relu()


torch.manual_seed(0)
net = Net()
net.compile(backend="eager")
for _ in range(3):
    rows = net.forward(torch.ones(2, 4))

# Cured
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, rows):
        return self.layer(rows).relu()


torch.manual_seed(0)
net = Net()
net.compile(backend="eager")
for _ in range(3):
    rows = net(torch.ones(2, 4))


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
