r"""An observer that is exported compares its extremes with infinity in Python.

Source: https://github.com/pytorch/pytorch/issues/157355
Finds: value in an export
Cause: data.dependent|guard|branch|value
Cure: torch\.where|torch\.cond|torch\._check|isinf|tensor
Expects: breaks 0
Run: --script
"""

import torch


class Observer(torch.nn.Module):
    def forward(self, x):
        low = x.min()
        if low.item() == -torch.inf:
            return x.clamp(-1, 1)
        return x / low


print(torch.export.export(Observer(), (torch.ones(4),)).module()(torch.ones(4)))

# Cured
import torch


class Observer(torch.nn.Module):
    def forward(self, x):
        low = x.min()
        return torch.where(low == -torch.inf, x.clamp(-1, 1), x / low)


print(torch.export.export(Observer(), (torch.ones(4),)).module()(torch.ones(4)))
