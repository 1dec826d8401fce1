"""Equal results and gradients, and a faster first call."""

import torch

from benchmarks.agents.checker import Rules, gradients

RULES = Rules(least_ops=12, loose_ops=6, first=1.3)
ENTRY = ("load", "pair")


def run(module, call):
    torch.manual_seed(53)
    encoder, forward = module.load(module.Config(depth=5, width=16, heads=2))
    first = call(forward, torch.randn(2, 6, 16)).detach()
    out = call(forward, torch.randn(2, 6, 16))
    out.square().sum().backward()
    return [first, out.detach(), gradients(encoder)]


def timed(module):
    _, forward = module.load(module.Config())
    x = torch.randn(2, 16, 32)

    def call():
        with torch.no_grad():
            forward(x)

    return call
