"""Float64 throughout: a call whose own casts to narrower floats are left out, as torch's accuracy tools leave them
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
    """Within `InFloat64`: what is computed here keeps its own dtypes."""
    token = KEPT.set(True)
    try:
        yield
    finally:
        KEPT.reset(token)


class InFloat64:
    """Context in which computations are in float64, if they begin with float64.

    `narrowed` are the ops that torch does not have in float64, which are computed in float32.
    """

    def __init__(self) -> None:
        self.narrowed: set[str] = set()
        self._within = ExitStack()

    def __enter__(self) -> None:
        self._within.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        self._within.enter_context(Widening(self.narrowed))

    def __exit__(self, *_: object) -> None:
        self._within.close()


class Widening(TorchDispatchMode):
    """Asks for float64 wherever a narrower float is asked for by name."""

    supports_higher_order_operators = True

    def __init__(self, narrowed: set[str]) -> None:
        super().__init__()
        self._narrowed = narrowed

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload) or func.name() in OF_BITS or KEPT.get():
            return func(*args, **kwargs)
        args, kwargs = tree_map_only(torch.dtype, wider, (args, kwargs))
        try:
            return func(*args, **kwargs)
        except (RuntimeError, NotImplementedError):
            if func._schema.is_mutable:
                raise
            args, kwargs = tree_map_only(torch.Tensor, narrowed, (args, kwargs))
            args, kwargs = tree_map_only(torch.dtype, narrower, (args, kwargs))
            value = tree_map_only(torch.Tensor, widened, func(*args, **kwargs))
            self._narrowed.add(func.name().partition(".")[0])
            return value


def wider(dtype: torch.dtype) -> torch.dtype:
    """Float64 for a narrower float, anything else as it is."""
    return torch.float64 if dtype in NARROW else dtype


def widened(value: Any) -> Any:
    """A floating tensor in float64, anything else as it is."""
    floats = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.detach().to(torch.float64) if floats else value


def narrower(dtype: torch.dtype) -> torch.dtype:
    """Float32 for float64, anything else as it is."""
    return torch.float32 if dtype == torch.float64 else dtype


def narrowed(value: torch.Tensor) -> torch.Tensor:
    """A tensor of float64 in float32, any other as it is."""
    return value.to(narrower(value.dtype))
