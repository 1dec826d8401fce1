"""Python's `max` takes the sizes of a list of tensors.

Source: https://github.com/pytorch/pytorch/pull/92643
"""

import torch
from torch.nn import functional

torch.manual_seed(0)
attention = torch.nn.MultiheadAttention(4, 2, batch_first=True)


def padded_attention(*sequences):
    longest = max(each.size(0) for each in sequences)
    batch = torch.stack([functional.pad(each, (0, 0, 0, longest - each.size(0))) for each in sequences])
    return attention(batch, batch, batch, need_weights=False)[0]


model = padded_attention
inputs = (torch.randn(3, 4), torch.randn(5, 4), torch.randn(2, 4))
