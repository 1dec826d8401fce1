"""A batch of packed sequences is split at the places in a tensor.

Source: https://github.com/pytorch/pytorch/issues/125341
Finds: graph breaks
Cause: tensor_split|data-dependent|depends on|value
Cure: split|list|outside|sizes|capture_scalar_outputs|before|mask|segment
Expects: graphs 1, breaks 0
"""

import torch
from torch import nn


class SegmentMean(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

    def forward(self, packed, ends):
        states = torch.relu(self.proj(packed))
        segments = torch.tensor_split(states, ends)
        return torch.stack([segment.mean(0) for segment in segments])


model, inputs = SegmentMean().eval(), (torch.randn(20, 8), torch.tensor([4, 9, 15]))


# Cured
class SegmentMean(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

    def forward(self, packed, ends):
        states = torch.relu(self.proj(packed))
        segment = torch.bucketize(torch.arange(len(packed)), ends, right=True)
        sums = states.new_zeros(len(ends) + 1, states.shape[1]).index_add(0, segment, states)
        counts = states.new_zeros(len(ends) + 1).index_add(0, segment, torch.ones_like(states[:, 0]))
        return sums / counts[:, None]


torch.manual_seed(0)
model = SegmentMean().eval()
