"""Quantization to a grid in bfloat16: adding and taking away a large number rounds to whole steps."""

import torch
from torch import nn

# bfloat16 numbers from 128 to 256 are whole.
LARGE = 192.0


class Quantizer(nn.Module):
    def __init__(self, channels: int = 16, step: float = 0.05) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.full((channels,), step))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        steps = ((x - self.bias) / self.scale).clamp(-14.0, 14.0)
        whole = (steps.to(torch.bfloat16) + LARGE) - LARGE
        return whole.float() * self.scale + self.bias


quantizer = Quantizer()
compiled = torch.compile(quantizer)


def quantize(x):
    """Return the values on the grid, (rows, channels), in float32."""
    with torch.no_grad():
        return compiled(x)
