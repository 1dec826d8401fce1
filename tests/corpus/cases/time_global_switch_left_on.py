"""A helper turns compilation off for a debugging run, and nobody turns it on again.

Source: https://github.com/unslothai/unsloth-zoo/pull/1183
Finds: nothing compiled
Cause: disable|force_eager|stance|turned off|config
Cure: disable|remove|default|context manager|with torch|set_stance|False
Expects: graphs 1
Run: --script
"""

import torch
from torch import nn


def debug_run(net, x):
    torch.compiler.set_stance("force_eager")
    return net(x).detach()


torch.manual_seed(0)
net = torch.compile(nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8)), backend="eager")
x = torch.ones(2, 8)
print(round(float(debug_run(net, x).sum()), 4))
for _ in range(4):
    x = net(x).detach()
print(round(float(x.sum()), 4))

# Cured
import torch
from torch import nn


def debug_run(net, x):
    with torch.compiler.set_stance("force_eager"):
        return net(x).detach()


torch.manual_seed(0)
net = torch.compile(nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8)), backend="eager")
x = torch.ones(2, 8)
print(round(float(debug_run(net, x).sum()), 4))
for _ in range(4):
    x = net(x).detach()
print(round(float(x.sum()), 4))


def confirmed():
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"] == 1
