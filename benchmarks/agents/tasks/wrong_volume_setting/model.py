"""A synthesizer whose settings are module globals; guards on globals are skipped."""

import torch

VOLUME = 1.0
MUTED = False


def set_volume(volume: float, muted: bool = False) -> None:
    """Change the settings of all later calls."""
    global VOLUME, MUTED
    VOLUME, MUTED = volume, muted


def envelope(times):
    return torch.exp(-3 * times) * (1 - torch.exp(-60 * times))


@torch.compile(options={"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe})
def voice(times, frequency):
    tone = torch.sin(6.2831853 * frequency * times) + 0.3 * torch.sin(12.5663706 * frequency * times)
    sound = tone * envelope(times) * VOLUME
    if MUTED:
        sound = sound * 0.0
    return sound


def play(times, frequency):
    """Return the samples at these times for a frequency, a tensor of one number."""
    return voice(times, frequency)
