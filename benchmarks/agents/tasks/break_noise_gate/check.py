"""A single graph, equal results and gradients for loud and quiet clips."""

import torch

from benchmarks.agents.checker import Rules, gradients

RULES = Rules(fullgraph=True, graphs=1, least_ops=8)
ENTRY = ("clean", "function")


def run(module, call):
    torch.manual_seed(5)
    with torch.no_grad():
        for parameter in module.gate.parameters():
            parameter.copy_(torch.randn_like(parameter))
    results = []
    for scale in (0.05, 2.0, 0.4, 0.7):
        module.gate.zero_grad()
        out = call(module.clean, torch.randn(16, 24) * scale)
        out.square().sum().backward()
        results.append([out, {key: value.clone() for key, value in gradients(module.gate).items()}])
    return results
