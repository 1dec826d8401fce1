r"""Positions are taken from a buffer of the largest batch and reshaped to its number, though the batch is dynamic.

Source: https://github.com/vllm-project/vllm-omni/pull/1102
Finds: constant dimension
Cause: constant|speciali[sz]|fixed|reshape|view|hard.?coded
Cure: arange|shape\[0\]|size\(0\)|-1|maybe_mark_dynamic|not a (fixed )?number
Expects: graphs 1, breaks 0
"""

import torch
from torch import nn


class Predictor(nn.Module):
    def __init__(self, batch=4):
        super().__init__()
        self.batch = batch
        self.embed = nn.Embedding(16, 8)

    def forward(self, x):
        positions = torch.arange(x.shape[1]).repeat(self.batch, 1)
        return (x + self.embed(positions)).reshape(self.batch, -1)


model = Predictor()
inputs = (torch.randn(4, 3, 8),)
torch._dynamo.mark_dynamic(inputs[0], 0)


# Cured
class Counting(Predictor):
    def forward(self, x):
        positions = torch.arange(x.shape[1]).repeat(x.shape[0], 1)
        return (x + self.embed(positions)).reshape(x.shape[0], -1)


cured = Counting()
cured.load_state_dict(model.state_dict())
model = cured
