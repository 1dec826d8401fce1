"""Equal counts and outputs, in one graph."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(fullgraph=True, graphs=2, least_ops=8)
ENTRY = ("build", "pair")


def run(module, call):
    torch.manual_seed(25)
    model, forward = module.build(6)
    results = []
    for train in (True, True, False, True):
        model.zero_grad()
        with torch.set_grad_enabled(train):
            out = call(forward, torch.randn(11, 6))
        if train:
            out.sum().backward()
        results.append([out, model.counts.clone(), model.gate.weight.grad.clone() if train else None])
    return results
