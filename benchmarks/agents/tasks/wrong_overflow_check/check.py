"""Equal results, scale and count of overflows, by Inductor."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(fullgraph=True, graphs=2, least_ops=6, loose_ops=20, backend="inductor", tolerance=2e-3)
ENTRY = ("make", "factory")


def run(module, call):
    torch.manual_seed(34)
    compressor = module.make()
    results = []
    for size in (0.1, 5.0, 3.0, 0.5, 1.0, 0.2):
        values = torch.rand(40) * size + 0.05
        results.append([call(compressor, values), float(compressor.scale), compressor.skipped])
    return results
