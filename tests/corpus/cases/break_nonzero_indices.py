r"""A model gathers the rows that a threshold selects, with nonzero.

Source: https://github.com/pytorch/pytorch/issues/94414
Finds: graph breaks
Cause: nonzero|(shape|size|number of rows).{0,40}(depends|data)|data.dependent|dynamic (output )?shape
Cure: torch\.where|mask|capture_dynamic_output_shape_ops|outside|topk
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Gather(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(4, 1)

    def forward(self, x):
        keep = torch.sigmoid(self.score(x)).squeeze(-1) > 0.5
        rows = torch.nonzero(keep).squeeze(-1)
        return x[rows].sum(0) * 2


model = Gather()
inputs = (torch.randn(9, 4),)


# Cured
class Masked(Gather):
    def forward(self, x):
        keep = torch.sigmoid(self.score(x)).squeeze(-1) > 0.5
        return torch.where(keep[:, None], x, 0.0).sum(0) * 2


cured = Masked()
cured.load_state_dict(model.state_dict())
model = cured
