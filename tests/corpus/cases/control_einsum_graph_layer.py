"""A layer of a graph network sums messages by index_add over given edges.

Source: https://github.com/rusty1s/pytorch_scatter/issues/457
"""

import torch
from torch import nn


class Messages(nn.Module):
    def __init__(self):
        super().__init__()
        self.edge = nn.Linear(9, 4)

    def forward(self, nodes, edges, distance):
        source, target = edges
        message = self.edge(torch.cat([nodes[source], nodes[target], distance[:, None]], -1))
        return torch.zeros_like(nodes).index_add(0, target, torch.tanh(message))


model = Messages()
inputs = (torch.randn(5, 4), torch.randint(0, 5, (2, 11)), torch.rand(11))
