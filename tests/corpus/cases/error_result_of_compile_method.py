r"""An engine assigns what its module's `compile` method returns.

Source: https://github.com/deepspeedai/DeepSpeed/pull/5581
Finds: no result of compile()
Cause: returns None|in place
Cure: in place|not assign|without assign|returns None
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x):
        return self.layers(x) * 0.1


class Engine(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def setup(self, backend):
        self.module = self.module.compile(backend=backend)

    def forward(self, *inputs):
        return self.module(*inputs)


torch.manual_seed(0)
engine = Engine(Regressor())
engine.setup("eager")
print(tuple(engine(torch.ones(3, 8)).shape))

# Cured
import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x):
        return self.layers(x) * 0.1


class Engine(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def setup(self, backend):
        self.module.compile(backend=backend)

    def forward(self, *inputs):
        return self.module(*inputs)


torch.manual_seed(0)
engine = Engine(Regressor())
engine.setup("eager")
print(tuple(engine(torch.ones(3, 8)).shape))


def confirmed():
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"] == 1
