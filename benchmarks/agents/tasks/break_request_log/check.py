"""A single graph, equal scores, the same log records."""

import logging

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(fullgraph=True, graphs=2, least_ops=4)
ENTRY = ("rank", "function")


class _Records(logging.Handler):
    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(f"{record.levelname} {record.getMessage()}")


def run(module, call):
    torch.manual_seed(21)
    with torch.no_grad():
        for parameter in module.ranker.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    logger, records = logging.getLogger("ranking"), _Records()
    logger.setLevel(logging.INFO)
    logger.addHandler(records)
    scores = [call(module.rank, torch.randn(12) * scale, torch.randn(9, 12)) for scale in (0.1, 2.0, 1.0)]
    logger.removeHandler(records)
    return [scores, records.texts]
