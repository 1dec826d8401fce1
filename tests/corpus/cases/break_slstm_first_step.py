r"""A recurrent cell asks whether the normaliser is all zero, and takes another branch in the first step.

Source: https://github.com/NX-AI/flashrnn/pull/16
Finds: graph breaks at line 22
Cause: data.dependent|value of a tensor|depends on (the )?(values?|data)|branch(es|ing)? on a tensor
Cure: torch\.where|torch\.cond
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gates = nn.Linear(width, 3 * width)

    def forward(self, x, cell, norm, peak):
        value, enter, forget = self.gates(x).chunk(3, dim=-1)
        kept = nn.functional.logsigmoid(forget) + peak
        if torch.all(norm == 0.0):
            top = enter
        else:
            top = torch.maximum(enter, kept)
        cell = torch.exp(kept - top) * cell + torch.exp(enter - top) * torch.tanh(value)
        norm = torch.exp(kept - top) * norm + torch.exp(enter - top)
        return cell / norm, cell, norm, top


model = Cell(8)
inputs = (torch.randn(4, 8), torch.zeros(4, 8), torch.zeros(4, 8), torch.zeros(4, 8))


# Cured: both are computed, and one is selected
class Selecting(Cell):
    def forward(self, x, cell, norm, peak):
        value, enter, forget = self.gates(x).chunk(3, dim=-1)
        kept = nn.functional.logsigmoid(forget) + peak
        top = torch.where(torch.all(norm == 0.0), enter, torch.maximum(enter, kept))
        cell = torch.exp(kept - top) * cell + torch.exp(enter - top) * torch.tanh(value)
        norm = torch.exp(kept - top) * norm + torch.exp(enter - top)
        return cell / norm, cell, norm, top


cured = Selecting(8)
cured.load_state_dict(model.state_dict())
model = cured
