"""A branch on a shape and on a flag of the module is decided while tracing.

Source: https://github.com/pytorch/pytorch/pull/147912
"""

import torch
from torch import nn


class Pooled(nn.Module):
    def __init__(self, mean=True):
        super().__init__()
        self.mean = mean
        self.head = nn.Linear(8, 2)

    def forward(self, x, mask=None):
        if x.dim() == 2:
            x = x.unsqueeze(0)
        if mask is not None and self.mean:
            x = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        elif x.shape[1] > 1:
            x = x.amax(1)
        assert x.shape[-1] == 8, f"width {x.shape[-1]}"
        return self.head(x)


model = Pooled()
inputs = (torch.randn(3, 5, 8), torch.ones(3, 5))
