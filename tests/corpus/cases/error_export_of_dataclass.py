"""A dataclass that is not registered is the input of an export.

Source: https://github.com/pytorch/pytorch/pull/112211
Finds: input of an export or raised in a script
Cause: dataclass|pytree|input type|regist
Cure: register_dataclass|pytree|tuple|dict
Expects: breaks 0
Run: --script
"""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Batch:
    tokens: torch.Tensor
    mask: torch.Tensor


class Model(nn.Module):
    def forward(self, batch):
        return batch.tokens * batch.mask


torch.export.export(Model(), (Batch(torch.randn(3), torch.ones(3)),))

# Cured
import torch
from dataclasses import dataclass
from torch import nn


@dataclass
class Batch:
    tokens: torch.Tensor
    mask: torch.Tensor


torch.export.register_dataclass(Batch)


class Model(nn.Module):
    def forward(self, batch):
        return batch.tokens * batch.mask


torch.export.export(Model(), (Batch(torch.randn(3), torch.ones(3)),))
