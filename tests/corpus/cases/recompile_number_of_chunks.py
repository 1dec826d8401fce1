"""A long input is processed in four chunks, and the last may be missing.

Source: https://github.com/pytorch/pytorch/pull/141078
Finds: recompiles
Cause: chunk|length|size|split
Cure: pad|multiple|tensor_split|fixed|bucket|unflatten|reshape
Expects: recompiles 0
Lacks: cured
"""

import torch
from torch import nn


class ChunkedFeedForward(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 32), nn.GELU(), nn.Linear(32, dim))

    def forward(self, x):
        return torch.cat([self.net(chunk) for chunk in x.chunk(4, dim=1)], dim=1)


torch_compile = {"dynamic": True}
model = ChunkedFeedForward().eval()
calls = [(torch.randn(2, length, 8),) for length in (24, 21, 18, 22, 9)]


# Cured
class ChunkedFeedForward(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 32), nn.GELU(), nn.Linear(32, dim))

    def forward(self, x):
        length = x.shape[1]
        padded = nn.functional.pad(x, (0, 0, 0, (4 - length % 4) % 4 + 4))
        padded = padded[:, : (length + 3) // 4 * 4].unflatten(1, (4, -1))
        return torch.stack([self.net(chunk) for chunk in padded.unbind(1)], 1).flatten(1, 2)[:, :length]


torch.manual_seed(0)
model = ChunkedFeedForward().eval()
