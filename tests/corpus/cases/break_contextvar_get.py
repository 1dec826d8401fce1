"""A context variable that is read in the forward pass breaks the graph.

Source: https://github.com/pytorch/pytorch/issues/186449
Finds: graph breaks at line 24
Cause: (?i)context ?var|contextvars
Cure: (?i)argument|attribute|outside|before|plain|global|as an input
Expects: graphs 1, breaks 0, recompiles 0
"""

import contextvars

import torch

attention_scale = contextvars.ContextVar("attention_scale", default=0.5)


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query = torch.nn.Linear(16, 16)
        self.key = torch.nn.Linear(16, 16)

    def forward(self, x):
        query, key = self.query(x), self.key(x)
        scale = attention_scale.get()
        return torch.softmax(query @ key.transpose(-1, -2) * scale, dim=-1) @ x


model = Attention()
inputs = (torch.randn(2, 8, 16),)

# Cured


class Cured(Attention):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        query, key = self.query(x), self.key(x)
        return torch.softmax(query @ key.transpose(-1, -2) * self.scale, dim=-1) @ x


cured = Cured(attention_scale.get())
cured.load_state_dict(model.state_dict())
model = cured
