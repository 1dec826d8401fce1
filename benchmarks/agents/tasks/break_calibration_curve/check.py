"""A single graph, equal results on and beside the curve."""

import torch

from benchmarks.agents.checker import Rules, gradients

RULES = Rules(fullgraph=True, graphs=1, least_ops=4)
ENTRY = ("measure", "function")


def run(module, call):
    torch.manual_seed(61)
    results = []
    for scale in (0.5, 2.0, 6.0):
        module.sensor.zero_grad()
        raw = torch.randn(13, 6) * scale
        raw[0] = torch.tensor([-2.0, -1.1, 0.0, 2.5, -9.0, 9.0])
        with torch.no_grad():
            module.sensor.offset.copy_(torch.linspace(-1, 1, 6))
            for parameter in module.sensor.regress.parameters():
                parameter.copy_(torch.randn_like(parameter))
        out = call(module.measure, raw)
        out.sum().backward()
        results.append([out, {key: value.clone() for key, value in gradients(module.sensor).items()}])
    return results
