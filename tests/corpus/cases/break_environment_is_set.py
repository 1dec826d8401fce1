"""TensorDict sets an environment variable while it is compiled.

Source: https://github.com/pytorch/rl/pull/3725
Finds: graph breaks at line 21 or graph breaks
Cause: (?i)environ|putenv
Cure: (?i)(outside|before|move|remove|once|python variable|global|attribute)
Expects: graphs 1, breaks 0, recompiles 0
"""

import os

import torch


class Scan(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(4, 8)

    def forward(self, x, hidden):
        x = x * 2
        os.environ["LAZY_LEGACY_OP"] = "0"
        return self.cell(x, hidden)


model = Scan()
inputs = (torch.randn(2, 4), torch.zeros(2, 8))

# Cured


class Cured(Scan):
    def forward(self, x, hidden):
        return self.cell(x * 2, hidden)


cured = Cured()
cured.load_state_dict(model.state_dict())
os.environ["LAZY_LEGACY_OP"] = "0"
model = cured
