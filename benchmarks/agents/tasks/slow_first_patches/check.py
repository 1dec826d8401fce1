"""Equal results and gradients for other sizes, and a faster first call."""

import torch

from benchmarks.agents.checker import Rules, gradients

RULES = Rules(least_ops=9, loose_ops=20, first=1.3)
ENTRY = ("build", "pair")


def run(module, call):
    torch.manual_seed(60)
    results = []
    for size, height, width in ((4, 8, 16), (3, 9, 6)):
        model, forward = module.build(size)
        results.append(call(forward, torch.randn(2, 3, height, width)).detach())
        out = call(forward, torch.randn(2, 3, height, width))
        out.square().sum().backward()
        results.append([out.detach(), gradients(model), [name for name, _ in model.named_parameters()]])
    return results


def timed(module):
    _, forward = module.build()
    images = torch.randn(2, 3, 24, 24)

    def call():
        with torch.no_grad():
            forward(images)

    return call
