"""A dataclass with a callable as default is used in the compiled function.

Source: https://github.com/pytorch/pytorch/issues/96197
"""

import dataclasses
from typing import Callable

import torch


@dataclasses.dataclass
class Settings:
    activation: Callable = torch.relu
    scale: float = 0.5


settings = Settings()


def model(x):
    return settings.activation(x) * settings.scale


inputs = (torch.randn(8),)
