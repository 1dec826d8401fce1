"""A benchmark resets Dynamo after each call.

Source: https://github.com/pytorch/torchdynamo/issues/1635
Finds: compiler reset
Cause: reset|cache|again|each call|every call|anew
Cure: reset|once|before|remove|outside
Expects: graphs 1
Run: --script
"""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).eval()
for size in (8, 8, 8, 8):
    compiled = torch.compile(net, backend="eager")
    with torch.no_grad():
        print(round(float(compiled(torch.ones(size, 16)).sum()), 4))
    torch._dynamo.reset()

# Cured
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).eval()
compiled = torch.compile(net, backend="eager")
for size in (8, 8, 8, 8):
    with torch.no_grad():
        print(round(float(compiled(torch.ones(size, 16)).sum()), 4))


def confirmed():
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"] == 1
