"""No more than two compilations over images of odd and even sizes."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(graphs=2, least_ops=10, loose_ops=60)
ENTRY = ("embed", "function")


def run(module, call):
    torch.manual_seed(15)
    with torch.no_grad():
        for parameter in module.pyramid.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    sizes = [
        (16, 16),
        (17, 16),
        (16, 19),
        (21, 23),
        (26, 34),
        (35, 22),
        (37, 41),
        (18, 20),
        (50, 33),
        (27, 28),
        (45, 30),
    ]
    return [call(module.embed, torch.randn(2 + number % 3, 3, *size)) for number, size in enumerate(sizes)]
