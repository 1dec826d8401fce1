r"""A plain sequence of layers is compiled by its own method, and no frame of the user is called.

Source: https://github.com/pytorch/pytorch/pull/177809
Finds: nothing compiled
Cause: skip|not (been )?(traced|compiled)|no (compiled )?frame|nothing|not called
Cure: torch\.compile|wrap|class|function|forward|module of
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)).eval()
model.compile(backend="eager")
with torch.no_grad():
    for step in range(4):
        y = model(torch.full((4, 16), 0.1 * step))
print(round(float(y.sum()), 4))

# Cured
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)).eval()
model = torch.compile(model, backend="eager")
with torch.no_grad():
    for step in range(4):
        y = model(torch.full((4, 16), 0.1 * step))
print(round(float(y.sum()), 4))


def confirmed():
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"] == 1
