"""No more than nine compilations over all pairs of effects."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(graphs=9, least_ops=1, loose_ops=0)
ENTRY = ("render", "function")


def run(module, call):
    torch.manual_seed(17)
    with torch.no_grad():
        for parameter in module.chain.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    names = ("tube", "soft", "fold", "hard")
    results = []
    for pair in [(before, after) for before in names for after in names]:
        module.chain.zero_grad()
        out = call(module.render, torch.randn(10, 8), *pair)
        out.square().sum().backward()
        results.append([out.detach(), module.chain.mix.weight.grad.clone()])
    return results
