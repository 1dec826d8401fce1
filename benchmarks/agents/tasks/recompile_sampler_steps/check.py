"""No more than two compilations over many numbers of steps."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(graphs=2, least_ops=6, loose_ops=700)
ENTRY = ("generate", "function")


def run(module, call):
    torch.manual_seed(23)
    with torch.no_grad():
        for parameter in module.denoiser.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4)
    return [call(module.generate, torch.randn(5, 12), steps) for steps in (7, 4, 11, 20, 5, 9, 33, 6, 15, 8, 17)]
