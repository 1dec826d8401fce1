"""The torch.compile call of a job, and its backend.

The backend is from torch's list, the model's file or the job's code. Torch knows built-in backends by name; their files
are loaded on first use.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.backends import registry

from core.accelerator.backends import SHIPPED_BACKENDS
from core.base.errors import JobError
from core.base.machine import own_module
from core.base.words import number
from core.job import FILE_SETTINGS, CompileJob, CompileOptions
from core.job.prepared import TORCH_COMPILE, TRAINING
from core.worker.config import alias_notes, check_option
from core.worker.load import ModelCopy, executed

MODULE = "compileboard_backend"
MOST_NAMED = 12  #: functions named in the error for a missing backend
Compiler = str | Callable[..., Any]
# A job's backend code → the path of its file, and then its definitions.
_written: dict[str, Path] = {}
_defined: dict[str, Mapping[str, Any]] = {}


def write_code(job: CompileJob, folder: Path) -> None:
    """Write a job's code next to its model, so that an error in it has a file and a line."""
    for name, code in job.code_files.items():
        (folder / name).write_text(code, encoding="utf-8")
        _written.setdefault(code, folder / name)


def rival_file(job: CompileJob) -> Path | None:
    """Return the path of a baseline's code; None if the job has none."""
    return _written.get(job.rival_code)


def backend_file(options: CompileOptions) -> Path | None:
    """Return the path of a backend's code, either the job's or of a built-in backend; None for others."""
    if options.backend_code:
        return _written.get(options.backend_code)
    return SHIPPED_BACKENDS[options.backend].path if options.backend in SHIPPED_BACKENDS else None


def load_backend(job: CompileJob) -> None:
    """Load the file of the job's backend.

    This must happen before the model's file is loaded, since the model's file may use names that the backend registers.
    """
    if job.compile.backend_code:
        _values(job)
    elif job.compile.backend in SHIPPED_BACKENDS:
        load_built_in(job.compile.backend)


def compiler_of(job: CompileJob, model_copy: ModelCopy) -> Compiler:
    """Return the `backend` argument of torch.compile; raises JobError for an unknown name."""
    options, name = job.compile, job.compile.backend
    defined = _values(job).get(name) if options.backend_code else None
    if callable(defined):
        return defined
    if name in torch._dynamo.list_backends(exclude_tags=()):
        return name
    in_file = None if options.backend_code else model_copy.values().get(name)
    if callable(in_file):
        return in_file
    raise JobError(
        "compile.backend", _missing(name, defined if options.backend_code else in_file, options, job, model_copy)
    )


def defines(job: CompileJob) -> bool:
    """Return True if the job's code defines or registers the backend that the job names."""
    name = job.compile.backend
    registered = registry._COMPILER_FNS.get(name)
    return callable(_values(job).get(name)) or getattr(registered, "__module__", "") == MODULE


def _values(job: CompileJob) -> Mapping[str, Any]:
    """Return the definitions in the code of the job's backend; the code is executed once."""
    code = job.compile.backend_code
    if code not in _defined:
        _defined[code] = vars(executed(_written[code], job, MODULE))
    return _defined[code]


def _missing(name: str, value: Any, options: CompileOptions, job: CompileJob, model_copy: ModelCopy) -> str:
    """Return an error message with the places searched for the backend, and the names found."""
    values = _values(job) if options.backend_code else model_copy.values()
    where = "the backend's code" if options.backend_code else "the file"
    functions = [key for key, value in values.items() if callable(value) and not key.startswith("_")][:MOST_NAMED]
    what = f"is a {type(value).__name__} in {where}, and no callable" if value is not None else f"is not in {where}"
    has = f", which has {', '.join(functions)}" if functions else ""
    names = sorted(torch._dynamo.list_backends(exclude_tags=()))
    close = get_close_matches(name, names, 1, 0.7)
    hint = f" (did you mean `{close[0]}`?)" if close else ""
    return f"no backend `{name}`{hint}: it {what}{has}; torch has {', '.join(names)}"


def register_built_in() -> None:
    """Register the built-in backends with torch, so that torch.compile calls in user code find them, too."""
    for name in SHIPPED_BACKENDS:
        registry._COMPILER_FNS.pop(name, None)
        torch._dynamo.register_backend(_lazy_backend(name), name=name)


def load_built_in(name: str) -> Callable[..., Any]:
    """Return the `backend` function of a built-in backend's file."""
    function: Callable[..., Any] = importlib.import_module(own_module(f"core.accelerator.backends.{name}")).backend
    return function


def _lazy_backend(name: str) -> Callable[..., Any]:
    def compile_graph(graph: Any, inputs: Sequence[Any], **options: Any) -> Any:
        return load_built_in(name)(graph, inputs, **options)

    compile_graph.__name__ = name
    return compile_graph


INDUCTOR = "inductor"
# Parameters that not every supported torch.compile has, or that are only passed if the job sets them.
NEWER = ("name", "disable", "recompile_limit", "isolate_recompiles", "shapes_spec")
# Names of parameters in later versions of torch.
RENAMED = {"shapes_spec": "dynamic_shapes"}
AS_IT_IS = "The file calls torch.compile itself. The run used the backend, mode and options that it passes."
MOST_KEYS = 3  #: compiled parts of a model in a note
FOR_TARGET = (
    "The file calls torch.compile itself. Code for the target was generated with the options of the job, "
    "not with those of the file."
)


def compiled_by(job: CompileJob, model_copy: ModelCopy) -> Callable[..., Any]:
    """Return a model copy's callable from torch.compile, not yet compiled; raises JobError."""
    options = job.compile
    if options.backend == INDUCTOR:
        for name in options.options or {}:
            check_option(f"compile.options.{name}", "inductor", name)
    parameters = {name: getattr(options, name) for name in ("fullgraph", "dynamic", "mode", "options")}
    parameters |= executed_parameters(job, model_copy)
    backend = parameters.pop("backend", options.backend)
    if isinstance(backend, str):
        backend = compiler_of(replace(job, compile=replace(options, backend=backend)), model_copy)
    function: Callable[..., Any] = torch.compile(
        model_copy.model, backend=backend, **parameters, **_newer_parameters(options, model_copy)
    )
    return function


def executed_parameters(job: CompileJob, model_copy: ModelCopy) -> dict[str, Any]:
    """Return the parameters in the executed `torch_compile` of a file that its text does not show.

    They are values that are no literals, or that the file changes later. Raises JobError for an unknown parameter.
    """
    executed = model_copy.values().get(TORCH_COMPILE)
    left = job.as_file_says()
    if executed is None or not left:
        return {}
    strange = (
        list(executed) if not isinstance(executed, dict) else [name for name in executed if name not in FILE_SETTINGS]
    )
    if strange:
        raise JobError("model", f"`torch_compile` in the file has {strange!r:.100}, and no parameters of torch.compile")
    named = job.compile.mode is not None or job.compile.options is not None or job.compile.backend != INDUCTOR
    dropped = ("mode", "options") if named and not {"mode", "options", "backend"}.issubset(left) else ()
    return {
        name: value
        for name, value in executed.items()
        if name in left and name not in dropped and value != job.setting(name)
    }


def _value_text(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {_value_text(each)}' for name, each in value.items())}}}"
    return str(getattr(value, "__qualname__", None) or f"{value!r:.200}")


def executed_words(job: CompileJob, model_copy: ModelCopy) -> Iterator[str]:
    """Yield a note on parameters from the executed file; raises JobError for another `training`."""
    training = model_copy.values().get(TRAINING)
    if isinstance(training, (bool, int)) and TRAINING in job.as_file_says() and bool(training) != bool(job.training):
        place = f"`{TRAINING}` in {model_copy.place_of(TRAINING)}"
        raise JobError("training", f"{place} is no literal, and its value is {training!r}: write it, or choose it")
    parameters = executed_parameters(job, model_copy)
    if parameters:
        values = ", ".join(f"{name}={_value_text(value)}" for name, value in parameters.items())
        place = f"`{TORCH_COMPILE}` in {model_copy.place_of(TORCH_COMPILE)}"
        yield f"{place} is no literal. The run used its executed value: {values}."


def _newer_parameters(options: CompileOptions, model_copy: ModelCopy) -> dict[str, Any]:
    default = CompileOptions()
    values = {name: getattr(options, name) for name in NEWER if getattr(options, name) != getattr(default, name)}
    if options.shapes_spec:
        values["shapes_spec"] = model_copy.value_of(options.shapes_spec, "compile.shapes_spec")
    return {_installed_name(name): value for name, value in values.items()}


def _installed_name(name: str) -> str:
    """Return a parameter's name in the installed torch.compile; raises JobError if it has none."""
    names = signature(torch.compile).parameters
    if name in names:
        return name
    if RENAMED.get(name) in names:
        return RENAMED[name]
    raise JobError(f"compile.{name}", f"torch.compile of torch {torch.__version__} has no parameter `{name}`")


def compiled_side(job: CompileJob, model_copy: ModelCopy) -> Callable[..., Any]:
    """Return the compiled callable of a run: the unchanged model if the file compiles the model itself."""
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
    named = ", ".join(f"`{name}`" for name in parts[:MOST_KEYS])
    more = f" and {number(len(parts) - MOST_KEYS)} more" if len(parts) > MOST_KEYS else ""
    return f"The file compiles {named}{more} by themselves. This run compiles the whole model, with them inlined."


def compile_notes(job: CompileJob, model_copy: ModelCopy) -> Iterator[str]:
    """Yield notes on a compiled model, executed settings and aliases; raises JobError."""
    yield from executed_words(job, model_copy)
    model = model_copy.model
    if is_compiled(model):
        yield compiled_words(job)
    elif parts := compiled_parts(model):
        yield parts_words(parts)
    yield from alias_notes("dynamo", job.conditions.dynamo or {})
    if job.compile.backend == INDUCTOR:
        yield from alias_notes("inductor", job.compile.options or {})


def effective_job(job: CompileJob, model_copy: ModelCopy) -> CompileJob:
    """Return the job, without compile options if the file itself compiles the model."""
    return replace(job, compile=CompileOptions()) if is_compiled(model_copy.model) else job
