r"""A model that is exported branches by a length which it reads from a tensor.

Source: https://github.com/pytorch/pytorch/issues/116336
Finds: value in an export
Cause: data.dependent|guard|branch
Cure: torch\._check|torch\.cond|torch\.where|mask
Expects: breaks 0
Run: --script
"""

import torch


class Norms(torch.nn.Module):
    def forward(self, x, length):
        size = length.item()
        if size > 2:
            return x * size
        return x.norm()


print(torch.export.export(Norms(), (torch.ones(5), torch.tensor(3))).module()(torch.ones(5), torch.tensor(3)))

# Cured
import torch


class Norms(torch.nn.Module):
    def forward(self, x, length):
        return torch.where(length > 2, x * length, x.norm())


print(torch.export.export(Norms(), (torch.ones(5), torch.tensor(3))).module()(torch.ones(5), torch.tensor(3)))
