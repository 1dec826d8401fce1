"""Each expert of a mixture takes only the tokens that are routed to it.

Source: https://github.com/huggingface/transformers/pull/30793
Finds: graph breaks at line 33
Cause: where|nonzero|dynamic|depends
Cure: capture_dynamic_output_shape_ops|mask|all tokens|where
Expects: breaks 0, skipped 0
"""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class MoeConfig:
    hidden: int = 8
    experts: int = 3


class SparseBlock(nn.Module):
    def __init__(self, config: MoeConfig):
        super().__init__()
        self.config = config
        self.gate = nn.Linear(config.hidden, config.experts, bias=False)
        self.experts = nn.ModuleList(nn.Linear(config.hidden, config.hidden) for _ in range(config.experts))

    def forward(self, tokens):
        weights, chosen = self.gate(tokens).softmax(-1).max(-1)
        output = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            (rows,) = torch.where(chosen == number)
            output.index_add_(0, rows, expert(tokens[rows]) * weights[rows, None])
        return output


torch.manual_seed(0)
model = SparseBlock(MoeConfig())
inputs = (torch.randn(10, 8),)


# Cured
class DenseBlock(SparseBlock):
    def forward(self, tokens):
        weights, chosen = self.gate(tokens).softmax(-1).max(-1)
        output = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            share = torch.where(chosen == number, weights, 0.0)
            output = output + expert(tokens) * share[:, None]
        return output


torch.manual_seed(0)
model = DenseBlock(MoeConfig())
