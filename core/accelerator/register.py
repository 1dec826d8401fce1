"""The name `accelerator` among torch's backends. What it needs is imported with its first graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.backends import registry

from core.report.records import Emit

NAME = "accelerator"


@contextmanager
def accelerating(emit: Emit, directory: Path) -> Iterator[None]:
    """Within it, `torch.compile(backend="accelerator")` builds programs below a directory and records them."""
    made: list[Any] = []

    def accelerator(graph: Any, inputs: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
        from core.accelerator.backend import Accelerator

        if not made:
            made.append(Accelerator(emit, directory))
        return made[0](graph, inputs, options)

    register(accelerator)
    try:
        yield
    finally:
        for backend in made:
            backend.close()


def register(backend: Any = None) -> None:
    """Put the name in the list, and behind it what a run takes; a run that takes another says so itself."""
    registry._COMPILER_FNS.pop(NAME, None)
    torch._dynamo.register_backend(backend or _outside, name=NAME)


def _outside(graph: Any, inputs: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
    raise RuntimeError("the backend `accelerator` compiles within a run of Compileboard")
