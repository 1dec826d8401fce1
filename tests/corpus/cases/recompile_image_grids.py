"""A vision encoder gets the grid of each image as a list of Python integers.

Source: https://github.com/vllm-project/vllm/pull/40116
Finds: recompiles
Cause: grid|list|integer|int|number|size
Cure: tensor|outside|before|precompute|position|dynamic|pad
Expects: recompiles 1
"""

import torch
from torch import nn


class VisionEncoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.Linear(12, dim)
        self.rows = nn.Embedding(32, dim)
        self.columns = nn.Embedding(32, dim)

    def forward(self, patches, grid_thw: list[list[int]]):
        positions = []
        for t, h, w in grid_thw:
            rows = torch.arange(h).repeat_interleave(w).repeat(t)
            columns = torch.arange(w).repeat(h).repeat(t)
            positions.append(self.rows(rows) + self.columns(columns))
        return self.embed(patches) + torch.cat(positions)


net = VisionEncoder().eval()
model = net
grids = [[[1, 4, 6]], [[1, 6, 8]], [[1, 4, 4], [1, 2, 6]], [[1, 8, 8]], [[1, 3, 5], [1, 7, 2]]]
calls = [(torch.randn(sum(t * h * w for t, h, w in grid), 12), grid) for grid in grids]


# Cured
class VisionEncoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.Linear(12, dim)
        self.rows = nn.Embedding(32, dim)
        self.columns = nn.Embedding(32, dim)

    def forward(self, patches, rows, columns):
        return self.embed(patches) + self.rows(rows) + self.columns(columns)


def places(grid):
    rows = torch.cat([torch.arange(h).repeat_interleave(w).repeat(t) for t, h, w in grid])
    columns = torch.cat([torch.arange(w).repeat(h).repeat(t) for t, h, w in grid])
    return rows, columns


state = net.state_dict()
model = VisionEncoder().eval()
model.load_state_dict(state)
calls = [(patches, *places(grid)) for patches, grid in calls]
