"""Equal grids and residuals, and a faster call."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(least_ops=9, loose_ops=60, faster=1.3)
ENTRY = ("simulate", "function")


def run(module, call):
    torch.manual_seed(54)
    results = []
    for size, steps in ((12, 5), (20, 8)):
        grid, trace = call(module.simulate, torch.randn(size, size), 0.01 * torch.randn(size, size), steps)
        results.append([grid, [list(point) for point in trace.points]])
    return results


def timed(module):
    grid, source = torch.randn(32, 32), torch.zeros(32, 32)
    return lambda: module.simulate(grid, source, 16)
