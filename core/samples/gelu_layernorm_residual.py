"""GELU, residual and LayerNorm

Eager PyTorch reads and writes memory for each op: the bias, the GELU, the residual and the LayerNorm.
Inductor fuses them into one kernel, reductions included.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

group = "Fusion"


class GeluResidualNorm(nn.Module):
    """LayerNorm(residual + GELU(x + bias))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        normed: Tensor = self.norm(residual + F.gelu(x + self.bias))
        return normed


model = GeluResidualNorm(1024).eval()
inputs = (torch.randn(8, 128, 1024), torch.randn(8, 128, 1024))
