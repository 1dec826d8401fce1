"""Equal losses in each epoch, few compilations."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(graphs=3, least_ops=8, loose_ops=20)
ENTRY = ("contrast", "function")


def run(module, call):
    torch.manual_seed(37)
    results = []
    for _ in range(10):
        left = torch.randn(8, 4, requires_grad=True)
        loss = call(module.contrast, left, left.detach() + 0.3 * torch.randn(8, 4), torch.rand(8) < 0.5)
        loss.backward()
        results.append([loss.detach(), left.grad])
        module.next_epoch()
    return [results, module.curriculum.epoch]
