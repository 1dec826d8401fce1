"""A small image model, as the libraries' tests use one."""

import torch
from torch import Tensor, nn

INPUT = torch.randn(1, 4, 32, 32)
RESOLUTIONS = (80, 96, 112)


class Denoiser(nn.Module):
    """Convolutions, a normalization and an attention over channels."""

    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.into, self.out = nn.Conv2d(4, channels, 3, padding=1), nn.Conv2d(channels, 4, 3, padding=1)
        self.norm = nn.GroupNorm(4, channels)

    def forward(self, image: Tensor) -> Tensor:
        """Return an image of the same shape."""
        hidden = nn.functional.silu(self.norm(self.into(image)))
        channels = hidden.flatten(2)
        mixed = nn.functional.scaled_dot_product_attention(channels, channels, channels)
        return self.out(hidden + mixed.view_as(hidden))


def at(size: int) -> Tensor:
    """Return an input of a resolution."""
    return torch.randn(1, 4, size, size)
