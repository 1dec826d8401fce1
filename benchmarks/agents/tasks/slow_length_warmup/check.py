"""Equal scores, no compilation after the warm-up, and a faster warm-up."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(least_ops=8, loose_ops=20, graphs=3, first=1.3)
ENTRY = ("serve", "factory")


def run(module, call):
    torch.manual_seed(58)
    service = module.serve()
    call(service.warm)
    before = len(getattr(getattr(call, "__self__", None), "graphs", []))
    results = [call(service, torch.randint(100, (2, length))) for length in module.Service.LENGTHS]
    after = len(getattr(getattr(call, "__self__", None), "graphs", []))
    results.append(call(service, torch.randint(100, (2, 19))))
    return [results, after - before]


def timed(module):
    service = module.serve()
    return service.warm
