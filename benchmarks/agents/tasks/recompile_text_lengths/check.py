"""No more than six compilations over a mix of lengths and batches."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(graphs=6, least_ops=9, loose_ops=60)
ENTRY = ("tag", "function")


def run(module, call):
    torch.manual_seed(9)
    with torch.no_grad():
        for parameter in module.encoder.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    sizes = [
        (4, 9),
        (4, 17),
        (3, 9),
        (8, 33),
        (1, 12),
        (2, 1),
        (5, 64),
        (1, 1),
        (32, 7),
        (6, 80),
        (1, 5),
        (9, 1),
        (2, 3),
    ]
    return [call(module.tag, torch.randint(60, size)) for size in sizes]
