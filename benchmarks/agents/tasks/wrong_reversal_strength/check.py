"""Equal gradients when the strength is set between forward and backward."""

import torch

from benchmarks.agents.checker import Rules, gradients

RULES = Rules(graphs=4, least_ops=3, loose_ops=12)
ENTRY = ("build", "pair")


def run(module, call):
    torch.manual_seed(38)
    model, forward = module.build(5)
    results = []
    for step in range(6):
        model.zero_grad()
        out = call(forward, torch.randn(9, 5))
        module.STRENGTH["value"] = 0.1 + 0.4 * step
        out.square().mean().backward()
        results.append([out.detach(), {key: value.clone() for key, value in gradients(model).items()}])
    return results
