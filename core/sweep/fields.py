"""Fields of a job that an axis may change: their syntax, their values, and how they are applied.

They are the options whose rows in `core/job/options/` have `axis`, and:

| field | changed value |
|---|---|
| `options.NAME`, `dynamo.NAME` | an Inductor option, a name of `torch._dynamo.config` |
| `inputs.A.D`, `batch` | the size of a dimension, of the batch |
| `code` | the model: a sample's name, a file of the server, or pasted code |
| `variant` | several of these at once |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from core.base.decoder import converted
from core.base.errors import DecodeError, JobError
from core.job import BATCH, CompileJob, Model, backend_of
from core.job.options import AXES, with_values
from core.job.readers import DYNAMIC

BACKEND = "backend"
TRAINING = "training"
OPTIONS, DYNAMO, INPUTS, CODE, VARIANT = "options.", "dynamo.", "inputs.", "code", "variant"


def applied(job: CompileJob, field: str, value: Any) -> CompileJob:
    """Return the job with a changed field; raises JobError that names the axis."""
    try:
        changed = _changer(field)(job, field, value)
        return converted(msgspec.to_builtins(changed), CompileJob)
    except DecodeError as error:
        raise JobError(f"axis {field[:60]}", f"`{str(value)[:60]}`: {error}") from None


def is_field(field: str) -> bool:
    """Return True if the field exists."""
    return field in (*AXES, BATCH, CODE, VARIANT) or any(
        field.startswith(prefix) and field != prefix for prefix in (OPTIONS, DYNAMO, INPUTS)
    )


def label_of(field: str, value: Any) -> str:
    """Return the default label of a field's value."""
    if field == "dynamic":
        return next((name for name, setting in DYNAMIC.items() if setting is value), str(value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={label_of(name, part)}" for name, part in value.items())
    if isinstance(value, (tuple, list)):
        return "; ".join(map(str, value)) or "none"
    if field == CODE or (field == BACKEND and ".py" in str(value)):
        return _code_label(str(value))
    return "none" if value == "" else str(value)


def _code_label(value: str) -> str:
    """Return a sample's name, a file's name with the callable, or the first line of code."""
    first = value.strip().splitlines()[0] if value.strip() else "none"
    return first[:60] if "\n" in value else first.rsplit("/", 1)[-1][:60]


def model_of(value: str) -> Model:
    """Return the model of a `code` value: several lines are code, a path is a file, and a word is a sample."""
    if "\n" in value:
        return Model("code", value)
    path, _, name = value.rpartition(":") if ".py:" in value else (value, "", "model")
    return Model("file", str(Path(path).resolve()), name or "model") if path.endswith(".py") else Model("sample", value)


def _changer(field: str) -> Callable[[CompileJob, str, Any], CompileJob]:
    if not is_field(field):
        raise JobError(f"axis {field[:60]}", "a job has no such field that a sweep could change")
    if field.startswith(OPTIONS):
        return _inductor
    if field.startswith(DYNAMO):
        return _dynamo
    changer = {BACKEND: _backend, TRAINING: _training, CODE: _code, VARIANT: _variant}.get(field)
    return changer or (_value if field in AXES else _sizes)


def _value(job: CompileJob, field: str, value: Any) -> CompileJob:
    return with_values(job, {AXES[field].path: value})


def _backend(job: CompileJob, field: str, value: Any) -> CompileJob:
    """Return the job with a backend name, or a file that defines one; a name keeps the job's file."""
    name, code = backend_of(value) if isinstance(value, str) else (value, "")
    return job.with_settings(backend=name, backend_code=code or job.compile.backend_code)


def _inductor(job: CompileJob, field: str, value: Any) -> CompileJob:
    return job.with_settings(options={**(job.compile.options or {}), field.removeprefix(OPTIONS): value})


def _training(job: CompileJob, _: str, value: Any) -> CompileJob:
    """Return the job with training on, off, or as in the file."""
    chosen = job.with_settings(training=value)
    return chosen if value is not None else chosen.leaving_to_file("training", *chosen.as_file_says())


def _dynamo(job: CompileJob, field: str, value: Any) -> CompileJob:
    return with_values(job, {"conditions.dynamo": {**(job.conditions.dynamo or {}), field.removeprefix(DYNAMO): value}})


def _sizes(job: CompileJob, field: str, value: Any) -> CompileJob:
    return replace(job, sizes={**job.sizes, field.removeprefix(INPUTS): value})


def _code(job: CompileJob, field: str, value: Any) -> CompileJob:
    named = model_of(str(value))
    return replace(job, model=replace(named, name=job.model.name) if named.kind == "code" else named)


def _variant(job: CompileJob, field: str, value: Any) -> CompileJob:
    if not isinstance(value, Mapping):
        raise JobError(f"axis {field}", "a variant sets fields by name")
    for name, setting in value.items():
        if name == VARIANT:
            raise JobError(f"axis {field}", "a variant holds no variants")
        job = applied(job, name, setting)
    return job
