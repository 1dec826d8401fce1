"""The call of torch.compile that a job asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from core.base.words import number
from core.job import CompileJob, CompileOptions
from core.worker.backends.selection import compiler_of, load_backend
from core.worker.calls import TwinCalls
from core.worker.conditions.settings import set_dynamo, set_threads
from core.worker.load import Twin
from core.worker.outcomes import observed

AS_IT_IS = (
    "The file compiles its model itself, and that was run as it is: with the backend, mode and options that the file "
    "gives to torch.compile."
)
MOST_NAMED = 3
FOR_TARGET = (
    "The file compiles its model itself. Code for the target was generated with the options of the job: those that the "
    "file gives to torch.compile were not used."
)


def compiled_by(job: CompileJob, twin: Twin) -> Callable[..., Any]:
    """The model of a twin, compiled by its first call with the options of the job."""
    options = job.compile
    function: Callable[..., Any] = torch.compile(
        twin.model,
        fullgraph=options.fullgraph,
        dynamic=options.dynamic,
        backend=compiler_of(job, twin),
        mode=options.mode,
        options=options.options,
    )
    return function


def compiled_side(job: CompileJob, twin: Twin) -> Callable[..., Any]:
    """What a run calls: a model that its file has compiled is taken as it is."""
    return twin.model if is_compiled(twin.model) else compiled_by(job, twin)


def is_compiled(model: Any) -> bool:
    """Whether the file itself has called torch.compile on its model."""
    if getattr(model, "_torchdynamo_disable", False):
        return False
    marks = ("_torchdynamo_orig_callable", "_compiled_call_impl")
    return any(getattr(model, mark, None) is not None for mark in marks)


def compiled_words(job: CompileJob) -> str:
    """What is said of a run whose file compiles its model itself."""
    if job.target:
        return FOR_TARGET
    given = job.compile.given()
    return f"{AS_IT_IS} Those of the job were not used: {', '.join(given)}." if given else AS_IT_IS


def compiled_parts(model: Any) -> list[str]:
    """The parts of a model that its file compiles by themselves, by their names."""
    parts = model.named_modules() if isinstance(model, torch.nn.Module) else ()
    return [name for name, part in parts if name and is_compiled(part)]


def parts_words(parts: Sequence[str]) -> str:
    """What is said of a run whose file compiles parts of its model."""
    named = ", ".join(f"`{name}`" for name in parts[:MOST_NAMED])
    more = f" and {number(len(parts) - MOST_NAMED)} more" if len(parts) > MOST_NAMED else ""
    return f"The file compiles {named}{more} by themselves. This run compiles the whole model, with them inlined."


def on_its_own(job: CompileJob, twin: Twin) -> CompileJob:
    """The job with what is known of how its model is compiled: nothing, where the file does that."""
    return replace(job, compile=CompileOptions()) if is_compiled(twin.model) else job


def make_compiled_calls(job: CompileJob, path: Path) -> None:
    """Make the compiled calls of a job alone, of a model that is loaded for them."""
    set_threads(job.conditions)
    load_backend(job)
    twin = Twin(path, job, "compileboard_model")
    set_dynamo(job.conditions)
    calls = TwinCalls(job, twin, compiled_side(job, twin), False)
    index = 0
    while (call := calls.next(index)) is not None:
        observed(job.conditions, calls.make, index, call, calls.before())
        index += 1
