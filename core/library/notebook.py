"""A run in a notebook's cell: `compileboard.show(model, x)` draws graphs, fusion and kernels, without a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.library.recording import RecordedRun, record


def show(model: Callable[..., Any], *inputs: Any, label: str = "", **keywords: Any) -> RecordedRun:
    """Compile a callable, call it once with the inputs, and return the recording, which a notebook draws.

    All code that the process has compiled before is compiled again when it is called next, so that this call compiles.
    An exception of the call passes through. Raises StoreError if the store cannot be written.
    """
    from core.worker import own_process

    name = getattr(model, "__qualname__", type(model).__name__)
    with record(label or name, reset=True) as run:
        own_process.compiled(model)(*inputs, **keywords)
    return run
