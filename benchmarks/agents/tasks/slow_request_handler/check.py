"""Equal results, also after a model was replaced, and a faster call."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(least_ops=4, faster=1.3)
ENTRY = ("build", "factory")


def run(module, call):
    torch.manual_seed(51)
    handler = module.build()
    results = []
    for name in ("small", "safe", "small", "safe"):
        results.append(call(handler, name, torch.randn(4, 32)))
    handler.models["small"] = module.Scorer().eval()
    results.append(call(handler, "small", torch.randn(4, 32)))
    return results


def timed(module):
    handler, x = module.build(), torch.randn(4, 32)
    return lambda: (handler("small", x), handler("safe", x))
