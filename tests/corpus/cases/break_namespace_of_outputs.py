"""A model returns its outputs in a SimpleNamespace that it makes in the call.

Source: https://github.com/pytorch/pytorch/pull/193719
Finds: graph breaks at line 23
Cause: SimpleNamespace
Cure: dataclass|named ?tuple|dict|tuple|return the tensors
Expects: breaks 0, graphs 1
"""

from types import SimpleNamespace

import torch


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.logits = torch.nn.Linear(8, 3)
        self.value = torch.nn.Linear(8, 1)

    def forward(self, x):
        hidden = x.relu()
        out = SimpleNamespace(logits=self.logits(hidden), value=self.value(hidden))
        return out.logits.softmax(-1) * out.value


model = Head()
inputs = (torch.randn(4, 8),)

# Cured
from collections import namedtuple

Out = namedtuple("Out", "logits value")


class HeadOfTuple(Head):
    def forward(self, x):
        hidden = x.relu()
        out = Out(self.logits(hidden), self.value(hidden))
        return out.logits.softmax(-1) * out.value


weights = model.state_dict()
model = HeadOfTuple()
model.load_state_dict(weights)
