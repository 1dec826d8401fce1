"""A single graph, equal results and gradients, whatever nodes have neighbours."""

import torch

from benchmarks.agents.checker import Rules, gradients

RULES = Rules(fullgraph=True, graphs=1, least_ops=15)
ENTRY = ("create", "pair")


def run(module, call):
    torch.manual_seed(77)
    network, compiled = module.create(10)
    results = []
    for share in (0.3, 0.05, 0.0, 0.9):
        features = torch.randn(14, 10)
        adjacency = (torch.rand(14, 14) < share).float()
        network.zero_grad()
        out = call(compiled, features, adjacency)
        out.sum().backward()
        grads = {key: torch.zeros(1) if value is None else value.clone() for key, value in gradients(network).items()}
        results.append([out, {key: value.sum() for key, value in grads.items()}])
    return results
