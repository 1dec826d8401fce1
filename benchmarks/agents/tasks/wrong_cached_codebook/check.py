"""Equal fingerprints over calls with several widths."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(least_ops=5, loose_ops=20)
ENTRY = ("fingerprint", "function")


def run(module, call):
    torch.manual_seed(70)
    frames = [torch.randn(6, 10), torch.randn(6, 14)]
    torch.manual_seed(71)
    results = [call(module.fingerprint, frames[number], 12) for number in (0, 1, 0, 0, 1)]
    return [*results, call(module.fingerprint, frames[0], 9)]
