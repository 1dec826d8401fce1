"""A layer compares the version of torch in each call.

Source: https://github.com/kornia/kornia/pull/3802
"""

import torch
from packaging import version
from torch import nn


def torch_version_ge(minimum: str) -> bool:
    return version.parse(torch.__version__.partition("+")[0]) >= version.parse(minimum)


def is_autocast_enabled() -> bool:
    if torch_version_ge("2.4.0"):
        return torch.is_autocast_enabled("cpu")
    return torch.is_autocast_cpu_enabled()


class Projection(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        x = torch.tanh(self.fc(x))
        return x.half().float() if is_autocast_enabled() else x * 2


model, inputs = Projection().eval(), (torch.randn(2, 8),)
