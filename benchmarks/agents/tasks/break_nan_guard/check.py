"""A single graph, equal results, the same error for bad input."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(fullgraph=True, graphs=1, least_ops=4)
ENTRY = ("score", "function")


def run(module, call):
    torch.manual_seed(8)
    with torch.no_grad():
        for parameter in module.head.parameters():
            parameter.copy_(torch.randn_like(parameter))
    results = []
    for bad, temperature in ((0, 1.0), (2, 0.7), (0, 0.3), (1, 2.0)):
        hidden = torch.randn(6, 16)
        hidden[:bad, 3] = float("nan")
        try:
            results.append(call(module.score, hidden, torch.tensor(temperature)))
        except module.BrokenLogits as error:
            results.append(str(error))
    return results
