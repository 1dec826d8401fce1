"""A module assigns a buffer to itself on its device in each forward pass.

Source: https://github.com/vllm-project/vllm/pull/11596
Finds: recompiles or graph breaks
Cause: (?i)buffer|assign|Parameter|scale
Cure: (?i)local|without|remove|__init__|variable|not assign
Expects: graphs 1, breaks 0, recompiles 0
Lacks: cured
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.nn.Parameter(torch.tensor([1.0])))

    def forward(self, x):
        self.scale = self.scale.to(x.dtype)
        return x + self.scale


model = Model()
calls = [(torch.ones(1, dtype=torch.float64),)] * 3
inputs = calls[0]

# Cured


class Cured(Model):
    def forward(self, x):
        return x + self.scale.to(x.dtype)


model = Cured()
