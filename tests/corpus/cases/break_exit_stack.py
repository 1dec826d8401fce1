"""A backbone enters its optional contexts by an exit stack.

Source: https://github.com/pytorch/pytorch/issues/109309
Finds: graph breaks at line 27
Cause: ExitStack|context
Cure: with |set_grad_enabled|nullcontext|outside|disable
Expects: breaks 0
"""

import contextlib

import torch

torch.manual_seed(0)


class Backbone(torch.nn.Module):
    def __init__(self, is_frozen: bool):
        super().__init__()
        self.is_frozen = is_frozen
        self.stem = torch.nn.Conv1d(1, 4, 3, padding=1)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, signal):
        with contextlib.ExitStack() as stack:
            if self.is_frozen:
                stack.enter_context(torch.no_grad())
            features = self.stem(signal).relu().mean(-1)
        return self.head(features)


model = Backbone(is_frozen=True)
inputs = (torch.randn(2, 1, 9),)
training = True


# Cured
class Plain(Backbone):
    def forward(self, signal):
        with torch.set_grad_enabled(not self.is_frozen):
            features = self.stem(signal).relu().mean(-1)
        return self.head(features)


torch.manual_seed(0)
model = Plain(is_frozen=True)
