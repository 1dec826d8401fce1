"""A paged attention gets the longest length of the batch as a number, one more for each token.

Source: https://github.com/pytorch/pytorch/issues/132849
Finds: recompiles
Cause: int|number|length|max_len
Cure: tensor|mask|dynamic|mark_dynamic|pad|fixed|constant
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, query, keys, longest):
        scores = keys[:longest] @ query
        return scores.softmax(0) @ keys[:longest]


model = Attention()
keys, query = torch.randn(32, 8), torch.randn(8)
calls = [(query, keys, longest) for longest in (5, 6, 7, 8)]


# Cured: the length is a tensor, and a mask hides the rest
class Masked(nn.Module):
    def forward(self, query, keys, longest):
        hidden = torch.arange(keys.shape[0]) >= longest
        return (keys @ query).masked_fill(hidden, float("-inf")).softmax(0) @ keys


model = Masked()
calls = [(query, keys, torch.tensor(longest)) for longest in (5, 6, 7, 8)]
