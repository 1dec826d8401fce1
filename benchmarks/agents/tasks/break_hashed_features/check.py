"""A single graph, the same buckets for other schemas, the same keys in the checkpoint."""

import torch

from benchmarks.agents.checker import Rules, gradients

RULES = Rules(fullgraph=True, graphs=2, least_ops=6)
ENTRY = ("build", "pair")


def run(module, call):
    results = []
    for columns, salt in ((["price", "brand", "colour", "shop"], "x1"), (["a", "bb", "ccc", "dddd"], "v9")):
        torch.manual_seed(3)
        model, compiled = module.build(module.Schema(columns=columns, salt=salt, buckets=53))
        results.append(call(compiled, torch.randn(11, 4)).detach())
        out = call(compiled, torch.randn(11, 4))
        out.sum().backward()
        results.append([out, list(model.state_dict()), gradients(model)])
    return results
