"""Equal points for the same seed of NumPy."""

import numpy as np
import torch

from benchmarks.agents.checker import Rules

RULES = Rules(least_ops=7, loose_ops=40)
ENTRY = ("augment", "function")


def run(module, call):
    torch.manual_seed(1)
    results = []
    for seed in (123, 7):
        np.random.seed(seed)
        results += [call(module.augment, torch.rand(9, 2)) for _ in range(4)]
    return results
