"""A diffusion sampler; the number of steps is chosen by the user of each request."""

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.time = nn.Linear(1, 32)
        self.enter = nn.Linear(width, 32)
        self.leave = nn.Linear(32, width)

    def forward(self, x, level):
        return self.leave(torch.nn.functional.silu(self.enter(x) + self.time(level.reshape(1, 1))))


denoiser = Denoiser()


@torch.compile
def sample(x, steps: int):
    levels = torch.linspace(1.0, 0.0, steps + 1)
    for number in range(steps):
        now, later = levels[number], levels[number + 1]
        noise = denoiser(x, now)
        x = x + (later - now) * noise
    return x


def generate(noise, steps: int = 10):
    """Return samples from noise, (rows, width), in a number of steps."""
    with torch.no_grad():
        return sample(noise, steps)
