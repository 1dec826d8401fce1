"""Equal results on the grid, by Inductor."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(fullgraph=True, graphs=2, least_ops=5, backend="inductor")
ENTRY = ("quantize", "function")


def run(module, call):
    torch.manual_seed(33)
    with torch.no_grad():
        module.quantizer.bias.copy_(torch.randn(16) * 0.1)
    bias = module.quantizer.bias.detach()
    results = []
    for most in (3, 14, 13):
        steps = torch.randint(-most, most + 1, (12, 16)) + 0.8 * (torch.rand(12, 16) - 0.5)
        results.append(call(module.quantize, steps * 0.05 + bias))
    return [*results, call(module.quantize, torch.randn(12, 16).sign() * 40)]
