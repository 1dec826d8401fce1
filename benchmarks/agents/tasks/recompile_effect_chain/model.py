"""An audio effect chain: each clip names the effects before and after the mix."""

import torch
from torch import nn


def soft(frames):
    return torch.tanh(1.5 * frames)


def hard(frames):
    return frames.clamp(-0.7, 0.7) + 0.05 * frames


def fold(frames):
    return torch.sin(2.0 * frames) * 0.8


def tube(frames):
    return frames / (1 + frames.abs()) + 0.1 * frames.square()


EFFECTS = {"soft": soft, "hard": hard, "fold": fold, "tube": tube}


class Chain(nn.Module):
    def __init__(self, bands: int = 8) -> None:
        super().__init__()
        self.mix = nn.Linear(bands, bands)

    def forward(self, frames, before: str, after: str):
        frames = EFFECTS[before](frames)
        frames = self.mix(frames)
        return EFFECTS[after](frames)


chain = Chain()
compiled = torch.compile(chain)


def render(frames, before: str, after: str):
    """Return the frames, (n, bands), after both effects and the mix."""
    return compiled(frames, before, after)
