"""Equal samples after each change of the settings, few compilations."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(graphs=3, least_ops=10, loose_ops=30)
ENTRY = ("play", "function")


def run(module, call):
    torch.manual_seed(36)
    results = []
    for number in range(12):
        module.set_volume(0.9 - 0.07 * number, muted=number % 5 == 3)
        results.append(call(module.play, torch.rand(50), torch.tensor(3.0 + number)))
    return results
