"""No more than two compilations over a schedule, equal losses and gradients."""

import torch

from benchmarks.agents.checker import Rules, gradients

RULES = Rules(graphs=2, least_ops=10, loose_ops=40)
ENTRY = ("distill", "function")


def run(module, call):
    torch.manual_seed(4)
    with torch.no_grad():
        for parameter in module.student.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    results = []
    for step in range(20):
        module.student.zero_grad()
        settings = module.Settings(temperature=str(5 - step * 0.17), weight=str(0.95 - step * 0.03))
        loss = call(module.distill, torch.randn(6, 10), torch.randn(6, 5), torch.randint(5, (6,)), settings)
        loss.backward()
        results.append([loss.detach(), {key: value.clone() for key, value in gradients(module.student).items()}])
    return results
