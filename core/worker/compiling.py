"""The torch.compile call of a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import torch

from core.base.errors import JobError
from core.base.words import number
from core.job import CompileJob, CompileOptions
from core.worker.backends.selection import compiler_of, load_backend
from core.worker.calls import ModelCalls, observed
from core.worker.conditions import set_dynamo, set_threads
from core.worker.config import alias_notes, check_option
from core.worker.load import ModelCopy

INDUCTOR = "inductor"
# Parameters that not every supported torch.compile has, or that are only passed if the job sets them.
NEWER = ("name", "disable", "recompile_limit", "isolate_recompiles", "shapes_spec")
# Names of parameters in later versions of torch.
RENAMED = {"shapes_spec": "dynamic_shapes"}
AS_IT_IS = "The file calls torch.compile itself. The run used the backend, mode and options that it passes."
MOST_NAMED = 3
FOR_TARGET = (
    "The file calls torch.compile itself. Code for the target was generated with the options of the job, "
    "not with those of the file."
)


def compiled_by(job: CompileJob, model_copy: ModelCopy) -> Callable[..., Any]:
    """Return a copy's model, to be compiled at its first call with the job's options.

    Raises JobError for an option that Inductor, or a parameter that torch.compile of the installed torch, does not
    have.
    """
    options = job.compile
    if options.backend == INDUCTOR:
        for name in options.options or {}:
            check_option(f"compile.options.{name}", "inductor", name)
    function: Callable[..., Any] = torch.compile(
        model_copy.model,
        fullgraph=options.fullgraph,
        dynamic=options.dynamic,
        backend=compiler_of(job, model_copy),
        mode=options.mode,
        options=options.options,
        **_newer_parameters(options, model_copy),
    )
    return function


def _newer_parameters(options: CompileOptions, model_copy: ModelCopy) -> dict[str, Any]:
    default = CompileOptions()
    values = {name: getattr(options, name) for name in NEWER if getattr(options, name) != getattr(default, name)}
    if options.shapes_spec:
        values["shapes_spec"] = model_copy.value_of(options.shapes_spec, "compile.shapes_spec")
    return {_installed_name(name): value for name, value in values.items()}


def _installed_name(name: str) -> str:
    """Return the name of a parameter in the installed torch; raises JobError if it has none."""
    names = signature(torch.compile).parameters
    if name in names:
        return name
    if RENAMED.get(name) in names:
        return RENAMED[name]
    raise JobError(f"compile.{name}", f"torch.compile of torch {torch.__version__} has no parameter `{name}`")


def compiled_side(job: CompileJob, model_copy: ModelCopy) -> Callable[..., Any]:
    """Return the compiled callable of a run; a model that its file compiles itself is used as it is."""
    return model_copy.model if is_compiled(model_copy.model) else compiled_by(job, model_copy)


def is_compiled(model: Any) -> bool:
    """Return True if the file itself has called torch.compile on its model."""
    if getattr(model, "_torchdynamo_disable", False):
        return False
    marks = ("_torchdynamo_orig_callable", "_compiled_call_impl")
    return any(getattr(model, mark, None) is not None for mark in marks)


def compiled_words(job: CompileJob) -> str:
    """Return the note for a run whose file compiles its model itself."""
    if job.target:
        return FOR_TARGET
    named_options = job.compile.given()
    return f"{AS_IT_IS} Those of the job were not used: {', '.join(named_options)}." if named_options else AS_IT_IS


def compiled_parts(model: Any) -> list[str]:
    """Return the names of a model's parts that its file compiles separately."""
    parts = model.named_modules() if isinstance(model, torch.nn.Module) else ()
    return [name for name, part in parts if name and is_compiled(part)]


def parts_words(parts: Sequence[str]) -> str:
    """Return the note for a run whose file compiles parts of its model."""
    named = ", ".join(f"`{name}`" for name in parts[:MOST_NAMED])
    more = f" and {number(len(parts) - MOST_NAMED)} more" if len(parts) > MOST_NAMED else ""
    return f"The file compiles {named}{more} by themselves. This run compiles the whole model, with them inlined."


def compile_notes(job: CompileJob, model: Any) -> Iterator[str]:
    """Yield a note if the file compiles its model, or parts of it, itself, and one for each alias among the options."""
    if is_compiled(model):
        yield compiled_words(job)
    elif parts := compiled_parts(model):
        yield parts_words(parts)
    yield from alias_notes("dynamo", job.conditions.dynamo or {})
    if job.compile.backend == INDUCTOR:
        yield from alias_notes("inductor", job.compile.options or {})


def effective_job(job: CompileJob, model_copy: ModelCopy) -> CompileJob:
    """Return the job without its compile options if the file compiles the model itself: those are unknown."""
    return replace(job, compile=CompileOptions()) if is_compiled(model_copy.model) else job


def make_compiled_calls(job: CompileJob, path: Path) -> None:
    """Make only the compiled calls of a job, on a model copy loaded for them."""
    set_threads(job.conditions)
    load_backend(job)
    model_copy = ModelCopy(path, job, "compileboard_model")
    set_dynamo(job.conditions)
    calls = ModelCalls(job, model_copy, compiled_side(job, model_copy), False)
    index = 0
    while (call := calls.next(index)) is not None:
        observed(job.conditions, calls.make, index, call, calls.before())
        index += 1
