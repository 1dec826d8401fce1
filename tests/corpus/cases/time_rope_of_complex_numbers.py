"""A rotary embedding with complex numbers falls back to eager kernels.

Source: https://github.com/pytorch/torchtitan/issues/15
Finds: slower than eager or fallbacks or first call
Cause: (?i)complex
Cure: (?i)real|cos|sin|view_as_real
Expects: graphs 1, breaks 0, recompiles 0
Run: --backend inductor
Lacks: detected
"""

import torch


class Rope(torch.nn.Module):
    def __init__(self, length=64, size=32):
        super().__init__()
        angles = torch.outer(torch.arange(length).float(), 1.0 / 10000 ** (torch.arange(0, size, 2) / size))
        self.register_buffer("cis", torch.polar(torch.ones_like(angles), angles))

    def forward(self, x):
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.cis).flatten(-2)


model = Rope()
inputs = (torch.randn(4, 64, 32),)

# Cured


class Cured(torch.nn.Module):
    def __init__(self, cis):
        super().__init__()
        self.register_buffer("cos", cis.real.contiguous())
        self.register_buffer("sin", cis.imag.contiguous())

    def forward(self, x):
        even, odd = x.float().reshape(*x.shape[:-1], -1, 2).unbind(-1)
        return torch.stack([even * self.cos - odd * self.sin, even * self.sin + odd * self.cos], dim=-1).flatten(-2)


model = Cured(model.cis)
