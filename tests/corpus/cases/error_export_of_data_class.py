"""An exported model takes a data class.

Source: https://github.com/pytorch/pytorch/issues/147400
Run: --script
Finds: input of an export
Cause: pytree|[Uu]nsupported input|data ?class|register
Cure: register_dataclass|register_pytree_node|pytree|dict|tuple
Expects: skipped 0
"""

from dataclasses import dataclass

import torch


@dataclass
class Batch:
    tokens: torch.Tensor
    mask: torch.Tensor


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(10, 4)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, batch: Batch):
        rows = self.embed(batch.tokens) * batch.mask[..., None]
        return self.head(rows.mean(1))


torch.export.export(Classifier(), (Batch(torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3)),))

# Cured
from dataclasses import dataclass

import torch


@dataclass
class Batch:
    tokens: torch.Tensor
    mask: torch.Tensor


torch.export.register_dataclass(Batch)


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(10, 4)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, batch: Batch):
        rows = self.embed(batch.tokens) * batch.mask[..., None]
        return self.head(rows.mean(1))


torch.export.export(Classifier(), (Batch(torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3)),))
