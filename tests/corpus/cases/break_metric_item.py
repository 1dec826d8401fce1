r"""A loss returns its accuracy as a number, and divides by it.

Source: https://github.com/sgl-project/SpecForge/pull/222
Finds: graph breaks
Cause: \.item|scalar|number of python
Cure: (remove|without|drop|keep|leave|do not|don't|avoid).{0,60}(item|tensor)|capture_scalar_outputs|outside|after the compiled|stay.{0,20}tensor
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class DraftHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(16, 32)

    def forward(self, hidden, target, mask):
        logits = self.head(hidden)
        right = (logits.argmax(-1) == target) * mask
        accuracy = right.sum().item() / (mask.sum().item() + 1e-6)
        loss = nn.functional.cross_entropy(logits, target, reduction="none")
        return (loss * mask).mean() * (2.0 - accuracy)


model = DraftHead()
inputs = (torch.randn(10, 16), torch.randint(0, 32, (10,)), torch.ones(10))


# Cured: the accuracy stays a tensor
class Tensors(DraftHead):
    def forward(self, hidden, target, mask):
        logits = self.head(hidden)
        right = (logits.argmax(-1) == target) * mask
        accuracy = right.sum() / (mask.sum() + 1e-6)
        loss = nn.functional.cross_entropy(logits, target, reduction="none")
        return (loss * mask).mean() * (2.0 - accuracy)


cured = Tensors()
cured.load_state_dict(model.state_dict())
model = cured
