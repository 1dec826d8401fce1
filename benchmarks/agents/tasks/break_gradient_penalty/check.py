"""A single graph, an equal loss."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(fullgraph=True, graphs=1, least_ops=15, tolerance=1e-3)
ENTRY = ("critic_loss", "function")


def run(module, call):
    torch.manual_seed(19)
    with torch.no_grad():
        for parameter in module.critic.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4)
    values = []
    for scale in (1.0, 3.0, 0.2):
        real, fake = torch.randn(12, 10) * scale, torch.randn(12, 10)
        values.append(call(module.critic_loss, real, fake, torch.rand(12, 1)).detach())
    return values
