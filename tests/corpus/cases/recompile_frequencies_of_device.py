r"""A video model keeps its rotary frequencies with the device's name as their key, from the first call on.

Source: https://github.com/huggingface/diffusers/pull/13792
Finds: recompiles
Cause: cache|None|frequencies
Cure: buffer|__init__|before the first|is_compiling
Expects: recompiles 0
"""

import torch


class Rotated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None

    def frequencies(self, device):
        key = (device.type, str(device))
        if self.cache is None or self.cache[0] != key:
            self.cache = key, 1.0 / 100 ** (torch.arange(4, device=device) / 4)
        return self.cache[1]

    def forward(self, rows):
        return rows * self.frequencies(rows.device).cos()


model, calls = Rotated(), [(torch.full((2, 4), float(step)),) for step in range(3)]

# Cured


class Stored(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rates", 1.0 / 100 ** (torch.arange(4) / 4))

    def forward(self, rows):
        return rows * self.rates.cos()


model = Stored()
