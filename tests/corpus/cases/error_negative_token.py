"""A padding index of -2 is looked up in an embedding.

Source: https://github.com/pytorch/pytorch/issues/183608
Finds: raised in eager
Cause: index|range|negative|bound
Cure: clamp|remainder|where|valid|mask|padding|check|from 0|non-negative
Expects: graphs 1, breaks 0, results other
Run: --backend inductor
"""

import torch
from torch import nn


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 4)

    def forward(self, tokens):
        return self.table(tokens).sum(1)


model = Embedder()
inputs = (torch.tensor([[2, -2, 4]]),)


# Cured: what is no token is masked
class Masked(Embedder):
    def forward(self, tokens):
        known = tokens >= 0
        return (self.table(tokens.clamp(min=0)) * known[..., None]).sum(1)


model = Masked()
