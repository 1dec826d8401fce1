"""Random number generators: seeding for each model copy, and states that show whether a call drew numbers."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch


def seed(number: int) -> None:
    """Seed torch's generators, Python's, and NumPy's if the user's code imported it."""
    torch.manual_seed(number)
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % 2**32)


def rng_state(device: str) -> tuple[Any, ...]:
    """Return the state of the generators that compiled code may use differently: torch's, and NumPy's.

    Python's is not included: Dynamo draws from it as eager does.
    """
    kind = device.partition(":")[0]
    states = [torch.get_rng_state()] if kind == "cpu" else [torch.get_rng_state(), getattr(torch, kind).get_rng_state()]
    all_states: list[Any] = [state.numpy().tobytes() for state in states]
    if "numpy" in sys.modules:
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        all_states.append((name, keys.tobytes(), *rest))
    return tuple(all_states)
