r"""A stage of a pipeline, which is no module and cannot be called, is compiled.

Source: https://github.com/deep-floyd/IF/issues/98
Finds: not callable
Cause: callable|module|function
Cure: \.model|attribute|module|inside|method|network
Expects: skipped 0
Run: --script
"""

import torch
from torch import nn


class Stage:
    def __init__(self, dim):
        self.model = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, dim))

    def sample(self, noise, steps=3):
        for _ in range(steps):
            noise = noise - 0.1 * self.model(noise)
        return noise


torch.manual_seed(0)
stage = torch.compile(Stage(8), backend="eager")
print(tuple(stage.sample(torch.ones(2, 8)).shape))

# Cured
import torch
from torch import nn


class Stage:
    def __init__(self, dim):
        self.model = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, dim))

    def sample(self, noise, steps=3):
        for _ in range(steps):
            noise = noise - 0.1 * self.model(noise)
        return noise


torch.manual_seed(0)
stage = Stage(8)
stage.model = torch.compile(stage.model, backend="eager")
print(tuple(stage.sample(torch.ones(2, 8)).shape))
