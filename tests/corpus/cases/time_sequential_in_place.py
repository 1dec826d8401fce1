"""A sequence of torch's own layers is compiled in place, and nothing of it is compiled.

Source: https://github.com/pytorch/pytorch/issues/150915
Run: --script
Finds: nothing compiled
Cause: in place
Cure: torch.compile.model
Expects: graphs 1
"""

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
net.compile(backend="eager")
for _ in range(3):
    rows = net(torch.ones(2, 4))

# Cured
import torch

torch.manual_seed(0)
net = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()), backend="eager")
for _ in range(3):
    rows = net(torch.ones(2, 4))


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
