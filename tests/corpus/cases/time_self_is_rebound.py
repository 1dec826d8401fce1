r"""A loader compiles its own model by an assignment to `self`.

Source: https://github.com/google-research/timesfm/issues/457
Run: --script
Finds: not called
Cause: self|not compiled|never compiled|no graph|local|no-op|no effect
Cure: forward|\.compile\(|return|self\.
Expects: graphs 1
"""

import torch


class Forecaster(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.SiLU(), torch.nn.Linear(16, 2))

    def load_checkpoint(self, state, torch_compile=True):
        self.load_state_dict(state)
        self.eval()
        if torch_compile:
            self = torch.compile(self, backend="eager")

    def forward(self, series):
        return self.body(series)


torch.manual_seed(0)
forecaster = Forecaster()
forecaster.load_checkpoint(Forecaster().state_dict())
for _ in range(3):
    forecaster(torch.ones(2, 8))


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


# Cured
import torch


class Forecaster(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.SiLU(), torch.nn.Linear(16, 2))

    def load_checkpoint(self, state, torch_compile=True):
        self.load_state_dict(state)
        self.eval()
        if torch_compile:
            self.compile(backend="eager")

    def forward(self, series):
        return self.body(series)


torch.manual_seed(0)
forecaster = Forecaster()
forecaster.load_checkpoint(Forecaster().state_dict())
for _ in range(3):
    forecaster(torch.ones(2, 8))


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
