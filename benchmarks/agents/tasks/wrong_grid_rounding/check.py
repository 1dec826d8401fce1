"""Equal results on the grid, by Inductor."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(fullgraph=True, graphs=2, least_ops=5, backend="inductor")
ENTRY = ("quantize", "function")


def run(module, call):
    torch.manual_seed(33)
    with torch.no_grad():
        module.quantizer.bias.copy_(torch.randn(16) * 0.1)
    return [call(module.quantize, torch.randn(12, 16) * scale) for scale in (0.3, 1.0, 8.0)]
