"""No more than two compilations over many users, equal scores, the same memory."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(graphs=2, least_ops=3, loose_ops=40)
ENTRY = ("open_sessions", "pair")


def run(module, call):
    torch.manual_seed(6)
    model, score = module.open_sessions(7)
    users = ["ann", "bob", "ann", "cyd", "dan", "eve", "bob", "fay", "gus", "hal", "ann", "ivy", "jon", "kim"]
    results = [call(score, user, torch.randn(1, 7)) for user in users]
    return [results, dict(model.memory)]
