"""Selection of a job's backend: from torch's list, from the model's file, or from the job's own code.

Built-in backends, registered with torch by name; a backend's file is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.backends import registry

from core.accelerator.backends import SHIPPED
from core.base.errors import JobError
from core.base.machine import own_module
from core.job import CompileJob, CompileOptions
from core.worker.load import ModelCopy, executed

MODULE = "compileboard_backend"
MOST_NAMED = 12
Compiler = str | Callable[..., Any]
# A job's backend code → the path of its file, and then its definitions.
_written: dict[str, Path] = {}
_defined: dict[str, Mapping[str, Any]] = {}


def write_code(job: CompileJob, folder: Path) -> None:
    """Write a job's code next to its model, so that an error in it has a file and a line."""
    rival = job.rival.backend_code if job.rival else ""
    codes = {"backend.py": job.compile.backend_code, "rival_backend.py": rival, "rival_model.py": job.rival_code}
    for name, code in codes.items():
        if code:
            (folder / name).write_text(code, encoding="utf-8")
            _written.setdefault(code, folder / name)


def rival_file(job: CompileJob) -> Path | None:
    """Return the path of a baseline's code; None if the job has none."""
    return _written.get(job.rival_code)


def backend_file(options: CompileOptions) -> Path | None:
    """Return the path of a backend's code, either the job's or of a built-in backend; None for others."""
    if options.backend_code:
        return _written.get(options.backend_code)
    return SHIPPED[options.backend].path if options.backend in SHIPPED else None


def load_backend(job: CompileJob) -> None:
    """Load the file of the job's backend before the model's file, which may use names that it registers."""
    if job.compile.backend_code:
        _values(job)
    elif job.compile.backend in SHIPPED:
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
    """Return True if the job's code defines or registers its backend by that name."""
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
    torch_names = ", ".join(sorted(torch._dynamo.list_backends(exclude_tags=())))
    return f"no backend `{name}`: it {what}{has}; torch has {torch_names}"


def register_built_in() -> None:
    """Register their names with torch, so that a model's own torch.compile finds them, too."""
    for name in SHIPPED:
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
