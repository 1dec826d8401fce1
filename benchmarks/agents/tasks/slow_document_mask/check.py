"""Equal results and gradients for several documents, and a faster call."""

import torch

from benchmarks.agents.checker import Rules, gradients

RULES = Rules(least_ops=6, loose_ops=100, faster=1.3)
ENTRY = ("build", "factory")


def run(module, call):
    torch.manual_seed(62)
    model = module.build(16)
    results = []
    for documents in ([0, 0, 1, 1, 1, 0, -1, -1], [2, 2, 2, -1, 5, 5, 2, -3], [1] * 8, list(range(8))):
        model.zero_grad()
        out = call(model, torch.randn(8, 16), torch.tensor(documents))
        out.square().sum().backward()
        results.append([out.detach(), {key: value.clone() for key, value in gradients(model).items()}])
    return results


def timed(module):
    model, x = module.build(), torch.randn(40, 32)
    documents = torch.arange(40) // 7

    def call():
        with torch.no_grad():
            model(x, documents)

    return call
