"""Equal scores, also after a change of the table, and a faster call."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(least_ops=5, loose_ops=20, faster=1.3)
ENTRY = ("build", "factory")


def run(module, call):
    torch.manual_seed(57)
    model = module.build(300, 5)
    results = []
    for number in range(4):
        results.append(call(model, torch.randn(4, 300)))
        model.table.change(7 * number, 4.0 + number)
        results.append(call(model, torch.ones(4, 300)))
    return results


def timed(module):
    model, x = module.build(), torch.randn(4, 6000)
    return lambda: model(x)
