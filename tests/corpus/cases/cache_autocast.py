"""Autocast within the compiled function keeps the graph out of AOTAutograd's cache.

Source: https://github.com/pytorch/pytorch/issues/191106
Run: --backend inductor --caches warm
Finds: cache bypassed
Cause: _enter_autocast
Cure: around the compiled call
Expects: graphs 1
"""

import torch

torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, rows):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.layer(rows).float()


model = Net()
inputs = (torch.ones(4, 8),)

# Cured


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, rows):
        return self.layer(rows).float()


torch.manual_seed(0)
model = Plain()


def calls():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yield (torch.ones(4, 8),)


def confirmed():
    return not torch._dynamo.utils.counters["aot_autograd"]["autograd_cache_bypass"]
