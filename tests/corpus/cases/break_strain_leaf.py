"""A potential makes a strain of zeros that requires grad, to differentiate by it.

Source: https://github.com/pytorch/pytorch/pull/113277
Finds: graph breaks
Cause: requires_grad
Cure: outside|input|argument|before|pass(ed)? (it )?in|caller
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)

    def forward(self, positions):
        positions = positions * 2.0
        strain = torch.zeros(3, 3, requires_grad=True)
        moved = positions + positions @ strain
        return self.net(torch.sin(moved)).sum()


model = Energy()
inputs = (torch.randn(6, 3),)


# Cured: the caller brings the strain
class Given(Energy):
    def forward(self, positions, strain):
        positions = positions * 2.0
        moved = positions + positions @ strain
        return self.net(torch.sin(moved)).sum()


cured = Given()
cured.load_state_dict(model.state_dict())
model = cured
inputs = (*inputs, torch.zeros(3, 3, requires_grad=True))
