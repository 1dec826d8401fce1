"""A language model's head that refuses broken logits."""

import torch
from torch import nn


class BrokenLogits(ValueError):
    """Logits that are no numbers."""


class Head(nn.Module):
    def __init__(self, width: int = 16, tokens: int = 40) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, tokens)

    def forward(self, hidden, temperature):
        logits = self.project(self.norm(hidden)) / temperature
        if not torch.isfinite(logits).all():
            bad = int((~torch.isfinite(logits)).any(dim=-1).sum())
            raise BrokenLogits(f"{bad} of {logits.shape[0]} rows are not finite")
        shifted = logits - logits.amax(dim=-1, keepdim=True)
        return torch.log_softmax(shifted, dim=-1)


head = Head()
forward = torch.compile(head)


def score(hidden, temperature):
    """Return log-probabilities; raise BrokenLogits if one is not finite. `temperature` is a tensor."""
    return forward(hidden, temperature)
