"""The call of torch.compile that a job asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from core.job import CompileJob, CompileOptions
from core.worker.calls import TwinCalls
from core.worker.conditions.settings import set_dynamo, set_threads
from core.worker.load import Twin
from core.worker.outcomes import observed


def compiled_by(options: CompileOptions, model: Callable[..., Any]) -> Callable[..., Any]:
    """The model, compiled by its first call."""
    function: Callable[..., Any] = torch.compile(
        model,
        fullgraph=options.fullgraph,
        dynamic=options.dynamic,
        backend=options.backend,
        mode=options.mode,
        options=options.options,
    )
    return function


def make_compiled_calls(job: CompileJob, path: Path) -> None:
    """Make the compiled calls of a job alone, of a model that is loaded for them."""
    set_threads(job.conditions)
    twin = Twin(path, job, "compileboard_model")
    set_dynamo(job.conditions)
    calls = TwinCalls(job, twin, compiled_by(job.compile, twin.model), False)
    index = 0
    while (call := calls.next(index)) is not None:
        observed(job.conditions, calls.make, index, call, calls.before())
        index += 1
