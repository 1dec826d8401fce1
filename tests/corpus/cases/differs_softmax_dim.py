"""Attention normalizes its scores over another dimension than the last one.

Source: https://github.com/pytorch/pytorch/issues/196468
Finds: results differ
Cause: softmax|attention|pattern|dim
Cure: scaled_dot_product|aot_eager|pattern|disable|transpose|move|fuse|backend|rewrite
Expects: graphs 1, breaks 0
Run: --backend inductor
Lacks: explained
"""

import torch
from torch import nn


class SlotAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = 128
        self.dropout = nn.Dropout(0.23)

    def forward(self, q, k, v):
        scores = torch.matmul(q, k.transpose(-2, -1)).div(self.scale)
        weights = self.dropout(torch.softmax(scores, dim=0))
        return weights.matmul(v)


model = SlotAttention(8).eval()
inputs = torch.randn(4, 4, 2, 8), torch.randn(4, 4, 3, 8), torch.randn(4, 4, 3, 8)

# Cured
torch_compile = {"backend": "aot_eager"}
