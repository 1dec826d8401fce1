"""A sensor model: raw values pass a measured calibration curve before a small regressor."""

import numpy as np
import torch
from torch import nn

RAW = np.array([-2.0, -1.1, -0.4, 0.0, 0.3, 0.9, 1.6, 2.5])
REAL = np.array([-3.1, -1.3, -0.5, 0.1, 0.2, 1.2, 1.9, 3.3])


class Sensor(nn.Module):
    def __init__(self, channels: int = 6) -> None:
        super().__init__()
        self.offset = nn.Parameter(torch.zeros(channels))
        self.regress = nn.Sequential(nn.Linear(channels, 16), nn.GELU(), nn.Linear(16, 2))

    def calibrate(self, raw):
        return torch.from_numpy(np.interp(raw.numpy(), RAW, REAL)).float()

    def forward(self, raw):
        return self.regress(self.calibrate(raw) + self.offset)


sensor = Sensor()
estimate = torch.compile(sensor)


def measure(raw):
    """Return two estimates for each row of raw values, (rows, channels); raw values need no gradient."""
    return estimate(raw)
