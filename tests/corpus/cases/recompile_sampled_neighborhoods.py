"""Sampled neighborhoods of a graph have other numbers of nodes and edges in each batch.

Source: https://github.com/pytorch/pytorch/issues/94640
Finds: recompiles
Cause: size|shape|edge|node
Cure: dynamic=True|mark_dynamic|dynamic|pad
Expects: recompiles 0
"""

import torch
from torch import nn


class SAGEConv(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.root = nn.Linear(inner, outer)
        self.neighbors = nn.Linear(inner, outer, bias=False)

    def forward(self, x, edge_index):
        source, target = edge_index
        total = torch.zeros_like(x).index_add(0, target, x[source])
        degree = torch.zeros_like(x[:, :1]).index_add(0, target, torch.ones_like(x[source, :1]))
        return self.root(x) + self.neighbors(total / degree.clamp(min=1))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = SAGEConv(8, 16), SAGEConv(16, 4)

    def forward(self, x, edge_index):
        return self.conv2(self.conv1(x, edge_index).relu(), edge_index)


model = Net().eval()
calls = []
for nodes, edges in ((40, 90), (40, 104), (37, 88), (52, 131)):
    calls.append((torch.randn(nodes, 8), torch.randint(nodes, (2, edges))))

# Cured
torch_compile = {"dynamic": True}
