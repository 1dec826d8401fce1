r"""An encoder clamps its hidden states only if there is an infinity or a nan.

Source: https://github.com/pytorch/pytorch/pull/180406
Finds: graph breaks at line 22
Cause: data.dependent|value of a tensor|depends on (the )?(values?|data)|branch(es|ing)? on a tensor
Cure: torch\.where|torch\.cond|clamp.{0,60}(always|unconditional|without|every)|(always|unconditional\w*|every time).{0,60}clamp|nan_to_num|branchless|without (the |a )?(branch|if)
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(16, 32)
        self.down = nn.Linear(32, 16)

    def forward(self, x):
        x = x + self.down(torch.relu(self.up(x)))
        if x.isinf().any() or x.isnan().any():
            limit = torch.finfo(x.dtype).max - 1000
            x = torch.clamp(x, min=-limit, max=limit)
        return x * 0.5


model = Block()
inputs = (torch.randn(2, 16),)


# Cured
class Clamping(Block):
    def forward(self, x):
        x = x + self.down(torch.relu(self.up(x)))
        limit = torch.finfo(x.dtype).max - 1000
        bad = x.isinf().any() | x.isnan().any()
        return torch.where(bad, torch.clamp(x, min=-limit, max=limit), x) * 0.5


cured = Clamping()
cured.load_state_dict(model.state_dict())
model = cured
