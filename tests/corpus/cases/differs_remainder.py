"""The remainder by an infinite period is not a number once the code is vectorized.

Source: https://github.com/pytorch/pytorch/issues/198057
Run: --backend inductor
Finds: results differ
Cause: remainder|%|vector|infinit|quotient
Cure: fmod|eager|where|float64
Expects: skipped 0
"""

import torch


class Phase(torch.nn.Module):
    def forward(self, time, period):
        return torch.remainder(time, period)


model = Phase()
infinite = float("inf")
inputs = (
    torch.tensor([5.5, -5.5, 0.0, 2.0, 7.5, 3.0, 1.0, 9.0] * 2),
    torch.tensor([infinite, -infinite, infinite, 3.0, 2.0, 2.0, 4.0, infinite] * 2),
)


# Cured
class Exact(torch.nn.Module):
    def forward(self, time, period):
        rest = torch.fmod(time, period)
        return torch.where((rest != 0) & ((rest < 0) != (period < 0)), rest + period, rest)


model = Exact()
