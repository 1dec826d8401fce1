r"""A mask attention lets a query see everything if it sees nothing, by indices of the empty rows.

Source: https://github.com/samvanstroud/hepattn/issues/57
Finds: graph breaks
Cause: data.dependent|nonzero|torch\.where\(condition\)|one argument|dynamic (output )?shape|depends on the (data|values)
Cure: torch\.where\([^)]*,|logical_or|\||masked_fill|broadcast|mask|capture_dynamic_output_shape_ops
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.queries = nn.Linear(8, 8)

    def forward(self, x, keys, mask):
        mask = mask.clone()
        mask[torch.where(mask.sum(-1) == 0)] = True
        scores = self.queries(x) @ keys.transpose(-1, -2)
        return scores.masked_fill(~mask, -1e9).softmax(-1) @ keys


model = Decoder()
inputs = (torch.randn(5, 8), torch.randn(7, 8), torch.rand(5, 7) > 0.6)


# Cured
class Broadcast(Decoder):
    def forward(self, x, keys, mask):
        mask = mask | (mask.sum(-1, keepdim=True) == 0)
        scores = self.queries(x) @ keys.transpose(-1, -2)
        return scores.masked_fill(~mask, -1e9).softmax(-1) @ keys


cured = Broadcast()
cured.load_state_dict(model.state_dict())
model = cured
