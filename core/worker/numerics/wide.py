"""Float64 throughout: a call whose own casts to narrower floats are left out, as torch's accuracy tools leave them
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

NARROW = {torch.float32, torch.float16, torch.bfloat16}
# They read the bits of a number, which are others in float64.
OF_BITS = ("aten::view.dtype",)


KEPT = ContextVar("KEPT", default=False)


@contextmanager
def as_written() -> Iterator[None]:
    """Within `in_float64`: what is computed here keeps its own dtypes."""
    token = KEPT.set(True)
    try:
        yield
    finally:
        KEPT.reset(token)


@contextmanager
def in_float64() -> Iterator[None]:
    """What is computed inside is computed in float64, if it begins with float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with Widening():
            yield
    finally:
        torch.set_default_dtype(before)


class Widening(TorchDispatchMode):
    """Asks for float64 wherever a narrower float is asked for by name."""

    supports_higher_order_operators = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if isinstance(func, OpOverload) and func.name() not in OF_BITS and not KEPT.get():
            args, kwargs = tree_map_only(torch.dtype, wider, (args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def wider(dtype: torch.dtype) -> torch.dtype:
    """Float64 for a narrower float, anything else as it is."""
    return torch.float64 if dtype in NARROW else dtype


def widened(value: Any) -> Any:
    """A floating tensor in float64, anything else as it is."""
    floats = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.detach().to(torch.float64) if floats else value
