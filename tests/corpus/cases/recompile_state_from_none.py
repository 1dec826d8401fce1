r"""A spiking layer has no state before its first call, and a tensor afterwards.

Source: https://github.com/pytorch/pytorch/issues/188074
Finds: recompiles
Cause: None|potential
Cure: buffer|__init__|zeros|before the first
Expects: recompiles 0
"""

import torch


class Leaky(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = torch.nn.Linear(3, 4)
        self.potential = None

    def forward(self, rows):
        current = self.inward(rows)
        if self.potential is None:
            self.potential = torch.zeros_like(current)
        self.potential = 0.9 * self.potential + current.detach()
        return torch.sigmoid(self.potential)


model, calls = Leaky().requires_grad_(False), [(torch.full((2, 3), float(step)),) for step in range(4)]

# Cured


class Ready(Leaky):
    def __init__(self):
        super().__init__()
        self.register_buffer("potential_now", torch.zeros(2, 4))

    def forward(self, rows):
        self.potential_now.mul_(0.9).add_(self.inward(rows))
        return torch.sigmoid(self.potential_now)


torch.manual_seed(0)
model = Ready().requires_grad_(False)
