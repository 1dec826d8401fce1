"""Equal results for other sizes, the same keys, and a faster call."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(least_ops=6, loose_ops=6, faster=1.3)
ENTRY = ("build", "pair")


def run(module, call):
    torch.manual_seed(56)
    results = []
    for width, most in ((16, 100), (24, 333)):
        rotary, forward = module.build(width, most)
        results.append(call(forward, torch.randn(7, width), torch.randint(most, (7,))).detach())
        out = call(forward, torch.randn(7, width), torch.randint(most, (7,)))
        out.square().sum().backward()
        results.append([out.detach(), rotary.scale.grad, list(rotary.state_dict())])
    return results


def timed(module):
    _, forward = module.build()
    x, positions = torch.randn(32, 128), torch.randint(4096, (32,))

    def call():
        with torch.no_grad():
            forward(x, positions)

    return call
