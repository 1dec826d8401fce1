"""Registration of the backend `accelerator` with torch; its code is imported at the first graph."""

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
    """Register the backend `accelerator`, which writes programs and records its work in this context."""
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
    """Register a backend as `accelerator`; without a backend, a stub that raises RuntimeError."""
    registry._COMPILER_FNS.pop(NAME, None)
    torch._dynamo.register_backend(backend or _outside, name=NAME)


def _outside(graph: Any, inputs: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
    raise RuntimeError("the backend `accelerator` compiles within a run of Compileboard")
