"""Random numbers: each twin begins with the same, and whether a call drew any is seen."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch


def seed(number: int) -> None:
    """Begin anew: torch's generators, Python's, and NumPy's where the user's code has it."""
    torch.manual_seed(number)
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % 2**32)


def position(device: str) -> tuple[Any, ...]:
    """Where the generators stand that a compiled call may draw from otherwise: torch's, and NumPy's.

    Python's own is none of them: Dynamo draws from it as eager does.
    """
    kind = device.partition(":")[0]
    states = [torch.get_rng_state()] if kind == "cpu" else [torch.get_rng_state(), getattr(torch, kind).get_rng_state()]
    found: list[Any] = [state.numpy().tobytes() for state in states]
    if "numpy" in sys.modules:
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        found.append((name, keys.tobytes(), *rest))
    return tuple(found)
