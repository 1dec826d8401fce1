"""Recommendation model (DLRM)

Embedding tables, dense features, and the dot products of every pair of them: gathers, a batched matrix product and
indexing between two small perceptrons.
"""

import torch
from torch import Tensor, nn

group = "Recommendation and experts"

ROWS, TABLES, WIDTH, DENSE, BATCH, PER_TABLE = 1000, 4, 32, 13, 128, 4


class DLRM(nn.Module):
    """Model from dense features and ids per table to the probability of a click."""

    pairs: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(DENSE, 64), nn.ReLU(), nn.Linear(64, WIDTH), nn.ReLU())
        self.tables = nn.ModuleList(nn.Embedding(ROWS, WIDTH) for _ in range(TABLES))
        self.register_buffer("pairs", torch.tril_indices(TABLES + 1, TABLES + 1, offset=-1))
        pair_count = self.pairs.shape[1]
        self.top = nn.Sequential(nn.Linear(WIDTH + pair_count, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, dense: Tensor, ids: Tensor) -> Tensor:
        features = [self.bottom(dense)]
        features += [table(ids[:, index]).sum(dim=1) for index, table in enumerate(self.tables)]
        stacked = torch.stack(features, dim=1)
        dots = torch.bmm(stacked, stacked.transpose(1, 2))
        interactions = dots[:, self.pairs[0], self.pairs[1]]
        return torch.sigmoid(self.top(torch.cat((features[0], interactions), dim=1)))


model = DLRM().eval()
inputs = (torch.randn(BATCH, DENSE), torch.randint(ROWS, (BATCH, TABLES, PER_TABLE)))
