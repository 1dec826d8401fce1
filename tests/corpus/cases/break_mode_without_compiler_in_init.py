r"""A context manager whose `__init__` is excluded from the compiler breaks the graph.

Source: https://github.com/pytorch/pytorch/issues/146797
Finds: graph breaks at line 31
Cause: (?i)compiler\.disable|\bdisabled?\b|context manager
Cure: (?i)(outside|before|remove|without|construct|create|move)
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


class AttentionMode:
    @torch.compiler.disable
    def __init__(self, method):
        self.method = method

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        with AttentionMode("ulysses"):
            x = torch.softmax(x @ x.T, dim=-1) @ x
        return x


model = Block()
inputs = (torch.randn(4, 8),)

# Cured


class Mode(AttentionMode):
    def __init__(self, method):
        self.method = method


class Cured(Block):
    def forward(self, x):
        x = self.linear(x)
        with Mode("ulysses"):
            x = torch.softmax(x @ x.T, dim=-1) @ x
        return x


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
