"""Float64 mode: casts to narrower floats inside a call are ignored, as in torch's accuracy tools."""

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
# Ops that read the bits of a number, which differ in float64.
OF_BITS = ("aten::view.dtype",)


KEPT = ContextVar("KEPT", default=False)


@contextmanager
def as_written() -> Iterator[None]:
    """Disable `InFloat64` in this context: computations have their own dtypes."""
    token = KEPT.set(True)
    try:
        yield
    finally:
        KEPT.reset(token)


class InFloat64:
    """Context that replaces narrower float dtypes by float64, so that float64 inputs give float64 results.

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
    """Mode that replaces each requested narrower float dtype by float64."""

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
        except RuntimeError:
            if func._schema.is_mutable:
                raise
            args, kwargs = tree_map_only(torch.Tensor, narrowed, (args, kwargs))
            args, kwargs = tree_map_only(torch.dtype, narrower, (args, kwargs))
            value = tree_map_only(torch.Tensor, widened, func(*args, **kwargs))
            self._narrowed.add(func.name().partition(".")[0])
            return value


def wider(dtype: torch.dtype) -> torch.dtype:
    """Return float64 for a narrower float dtype, any other dtype unchanged."""
    return torch.float64 if dtype in NARROW else dtype


def widened(value: Any) -> Any:
    """Return a floating tensor in float64, any other value unchanged."""
    floats = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.detach().to(torch.float64) if floats else value


def narrower(dtype: torch.dtype) -> torch.dtype:
    """Return float32 for float64, any other dtype unchanged."""
    return torch.float32 if dtype == torch.float64 else dtype


def narrowed(value: torch.Tensor) -> torch.Tensor:
    """Return a float64 tensor in float32, any other tensor unchanged."""
    return value.to(narrower(value.dtype))
