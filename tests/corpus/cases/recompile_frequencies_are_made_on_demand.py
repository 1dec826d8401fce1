"""A rotary embedding makes its frequencies in the first forward pass, if they are still None.

Source: https://github.com/huggingface/transformers/pull/30775
Finds: recompiles
Cause: (?i)None|inv_freq|attribute|first (call|pass)
Cure: (?i)__init__|register_buffer|constructor|before|eager|warm
Expects: graphs 1, breaks 0, recompiles 0
Lacks: cured
"""

import torch


class Rotary(torch.nn.Module):
    def __init__(self, dim=8, base=10000):
        super().__init__()
        self.dim = dim
        self.base = base
        self.register_buffer("inv_freq", None, persistent=False)

    def forward(self, positions):
        if self.inv_freq is None:
            self.inv_freq = 1.0 / (self.base ** (torch.arange(0, self.dim, 2).float() / self.dim))
        return torch.outer(positions.float(), self.inv_freq).cos()


model = Rotary()
calls = [(torch.arange(6),)] * 3
inputs = calls[0]

# Cured


class Cured(Rotary):
    def __init__(self, dim=8, base=10000):
        super().__init__(dim, base)
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, positions):
        return torch.outer(positions.float(), self.inv_freq).cos()


model = Cured()
