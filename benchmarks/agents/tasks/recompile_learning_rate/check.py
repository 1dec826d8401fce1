"""No more than two compilations over a schedule, equal parameters."""

import torch

from benchmarks.agents.checker import Rules, state

RULES = Rules(graphs=2, least_ops=16, loose_ops=60)
ENTRY = ("setup", "optimizer")


def run(module, call):
    torch.manual_seed(16)
    model, optimizer = module.setup()
    results = []
    for _ in range(18):
        model.zero_grad(set_to_none=False)
        model(torch.randn(5, 6)).square().mean().backward()
        call(optimizer.step)
        results.append(state(model))
    return [results, type(optimizer.steps).__name__, type(optimizer.rate()).__name__, optimizer.steps]
