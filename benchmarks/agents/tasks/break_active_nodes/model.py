"""Message passing over a graph: nodes without a neighbour keep their features."""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.message = nn.Linear(width, width)
        self.update = nn.Linear(2 * width, width)

    def forward(self, features, adjacency):
        degree = adjacency.sum(dim=1)
        active = torch.nonzero(degree > 0).squeeze(1)
        if len(active) == 0:
            return features
        rows = adjacency[active] / degree[active].unsqueeze(1)
        incoming = rows @ self.message(features)
        changed = torch.relu(self.update(torch.cat([features[active], incoming], dim=1)))
        features = features.clone()
        features[active] = changed
        return features


class Network(nn.Module):
    def __init__(self, width: int = 12, depth: int = 3) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))
        self.readout = nn.Linear(width, 1)

    def forward(self, features, adjacency):
        for layer in self.layers:
            features = layer(features, adjacency)
        return self.readout(features).squeeze(1)


def create(width: int = 12):
    """Return the network and its compiled forward."""
    network = Network(width)
    return network, torch.compile(network)
