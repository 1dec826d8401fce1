r"""Export of a slice whose length is `int()` of a tensor.

Source: https://github.com/pytorch/pytorch/issues/137062
Run: --script
Finds: number in an export
Cause: a tensor's value as a Python number
Cure: leave `int\(…\)` out
Expects: skipped 0
"""

import torch


class Prefix(torch.nn.Module):
    def forward(self, x, length):
        return x[: int(length)] * 2


torch.export.export(Prefix(), (torch.ones(6), torch.tensor(4)))

# Cured
import torch


class Prefix(torch.nn.Module):
    def forward(self, x, length):
        return x[: length.item()] * 2


torch.export.export(Prefix(), (torch.ones(6), torch.tensor(4)))
