"""`_replace` of a named tuple, which older versions could not trace.

Source: https://github.com/pytorch/pytorch/issues/158772
"""

from typing import NamedTuple

import torch


class State(NamedTuple):
    x: torch.Tensor
    scale: float


def model(x):
    state = State(x, 2.0)._replace(scale=3.0)
    return state.x * state.scale


inputs = (torch.randn(4, 8),)
