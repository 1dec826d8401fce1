"""A single graph, equal tokens and lengths."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(fullgraph=True, graphs=1, least_ops=40, loose_ops=0)
ENTRY = ("speak", "function")


def run(module, call):
    torch.manual_seed(44)
    with torch.no_grad():
        for parameter in module.speaker.parameters():
            parameter.copy_(torch.randn_like(parameter))
    results = []
    for _ in range(4):
        tokens, lengths = call(module.speak, torch.randn(3, 16), 10)
        results.append([tokens, lengths, [type(length).__name__ for length in lengths]])
    return results
