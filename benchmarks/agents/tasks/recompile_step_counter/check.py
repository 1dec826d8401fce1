"""No more than two compilations over many steps, equal actions, a right counter."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(graphs=2, least_ops=6, loose_ops=30)
ENTRY = ("make", "pair")


def run(module, call):
    torch.manual_seed(2)
    policy, act = module.make()
    results = []
    for _ in range(14):
        results.append([call(act, torch.randn(4, 8), torch.randn(4, 3)), int(policy.step)])
    return results
