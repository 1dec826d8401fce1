"""Settings come in a frozen dataclass, and each call gets a new one.

Source: https://github.com/pytorch/pytorch/issues/138226
Finds: recompiles
Cause: threshold|settings
Cure: tensor|same
Expects: recompiles 0
"""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Settings:
    threshold: float


def model(settings, x):
    return torch.where(x > settings.threshold, x, torch.zeros_like(x))


calls = [(Settings(0.1 * step), torch.linspace(-1, 1, 8)) for step in range(1, 5)]

# Cured


def model(threshold, x):
    return torch.where(x > threshold, x, torch.zeros_like(x))


calls = [(torch.tensor(0.1 * step), torch.linspace(-1, 1, 8)) for step in range(1, 5)]
