"""A mixture of experts that computes all of them, and weights by the router.

Source: https://github.com/pytorch/pytorch/pull/180925
"""

import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(8, 4)
        self.experts = nn.Parameter(torch.randn(4, 8, 8) * 0.1)

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(2, -1)
        gates = torch.zeros(x.shape[0], 4).scatter(1, chosen, weights)
        return torch.einsum("be,eio,bi->bo", gates, self.experts, x)


model = Mixture()
inputs = (torch.randn(6, 8),)
