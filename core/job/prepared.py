"""Jobs ready to run: a job with the settings of its model's file, and the model's code."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from core.base.decoder import toml_as
from core.base.errors import JobError
from core.base.files import read
from core.base.machine import package_version
from core.job import FILE_SETTINGS, MAX_CODE_BYTES, CompileJob, CompileOptions, Model, validated
from core.job.gallery import literals, sample, unread
from core.job.kind import MODEL, FileKind, file_kind
from core.job.notebook import MAX_NOTEBOOK_BYTES, SUFFIX, script_of

OF_INDUCTOR = ("mode", "options")
TRAINING, TORCH_COMPILE = "training", "torch_compile"


@dataclass(frozen=True, slots=True)
class FileSettings:
    """Settings in a model's file: values by their names in `FILE_SETTINGS`.

    `unread` lists the settings among `training` and `torch_compile` whose values are not literals.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def file_settings(model: Model) -> FileSettings:
    """Read the settings in a model's file, without running it; raises JobError."""
    return settings_of(model_code(CompileJob(model)))


def settings_of(code: str) -> FileSettings:
    """Return the settings that code defines by literals; raises JobError if a value is not valid."""
    wanted = literals(code)
    values = _parameters(wanted.get(TORCH_COMPILE, {}))
    if TRAINING in wanted:
        if not isinstance(wanted[TRAINING], (bool, int)):
            raise JobError("model", f"`training` in the file is {wanted[TRAINING]!r:.60}: write True or False")
        values[TRAINING] = bool(wanted[TRAINING])
    return FileSettings(values, unread(code))


def _parameters(wanted: object) -> dict[str, Any]:
    """Return the parameters of torch.compile in the literal `torch_compile` of a file; raises JobError."""
    if not isinstance(wanted, dict):
        raise JobError("model", "`torch_compile` in the file is not a dict of parameters of torch.compile")
    strange = next((name for name in wanted if name not in FILE_SETTINGS or name == TRAINING), None)
    if strange is not None:
        names = ", ".join(name for name in FILE_SETTINGS if name != TRAINING)
        raise JobError("model", f"`torch_compile` in the file names `{strange!s:.60}`, which is none of {names}")
    try:
        options = msgspec.convert({"backend": CompileOptions().backend, **wanted}, CompileOptions)
    except msgspec.ValidationError as error:
        raise JobError("model", f"`torch_compile` in the file is not right: {error}") from None
    return {name: getattr(options, name) for name in wanted}


def prepared(job: CompileJob) -> tuple[CompileJob, str]:
    """Return the job with the settings of the model's file, and the model's code; raises JobError.

    The file's values are used for the settings that the job leaves to the file. The file's mode and options are
    not used if the job sets a mode or options, since torch accepts only one of the two. They are also not used if
    the job names another backend, since both are specific to a backend. A script gets no settings, and is not
    measured.
    """
    code = model_code(validated(job))
    kind = kind_of(job, code)
    if kind.is_script:
        script = replace(job, model=replace(job.model, name=""), training=None, measure=False, from_file=None)
        return _checked_script_job(script, kind), code
    if job.arguments:
        raise JobError("arguments", f"only a script has arguments: {kind.reason}; `--script` runs the file as a script")
    left = job.as_file_says()
    settings = settings_of(code).values if left else {}
    default: dict[str, Any] = {name: CompileJob(job.model).setting(name) for name in left} | {TRAINING: False}
    values = {name: settings.get(name, default[name]) for name in left}
    chosen = {name: job.setting(name) for name in FILE_SETTINGS if name not in left}
    backend_of_file = settings.get("backend", CompileOptions().backend)
    if chosen.get("backend", backend_of_file) != backend_of_file or any(
        chosen.get(name) is not None for name in OF_INDUCTOR
    ):
        values |= {name: None for name in OF_INDUCTOR if name in left}
    code_of_backend = {"backend_code": ""} if "backend" in left else {}
    return validated(replace(job.with_settings(**values, **code_of_backend), from_file=left)), code


def kind_of(job: CompileJob, code: str) -> FileKind:
    """Return what the code of a job is: as the job requests, or else as the code decides."""
    if job.model.is_script:
        return FileKind(True, "the job requests a script")
    if job.model.kind == "sample" or job.model.as_model or job.model.name != MODEL or job.exercise:
        return FileKind(False, f"the job names the model `{job.model.name}`")
    return file_kind(code, bool(job.calls))


def _checked_script_job(job: CompileJob, kind: FileKind) -> CompileJob:
    """Return the job of a script; raises JobError, with the reason why it is a script."""
    try:
        return validated(job)
    except JobError as error:
        why = f"; it is a script since {kind.reason}, and `--model` compiles its `{MODEL}` instead"
        raise JobError(error.field, error.message + (why if job.model.kind != "sample" else "")) from None


def measured_again(job: CompileJob | None) -> CompileJob:
    """Return the job that measures a run again, as a new run; raises JobError if that is impossible."""
    if job is None:
        raise JobError("run", "an imported log has no job to measure again")
    if job.target:
        raise JobError("target", "code for a target does not run here, so there is nothing to measure")
    if job.model.is_script:
        raise JobError("model", "a script is run as it is, and is not compared with eager, so nothing is measured")
    return replace(job, measure=True, sweep="")


def model_code(job: CompileJob) -> str:
    """Return the code of a job's model, a notebook's as a script; raises JobError if unreadable."""
    if job.model.kind == "code":
        return job.model.value
    path = sample(job.model.value).path if job.model.kind == "sample" else Path(job.model.value)
    try:
        if path.suffix == SUFFIX:
            return script_of(read(path, MAX_NOTEBOOK_BYTES))
        return read(path, MAX_CODE_BYTES).decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        raise JobError("model.value", f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise JobError("model.value", f"{path} cannot be read: {reason}") from None


def torch_version() -> str:
    """Return the installed torch's version, without importing it; empty if there is none."""
    return package_version("torch")


HAS_INPUTS = re.compile(r"^inputs\s*=", re.MULTILINE)
PARTS = toml_as(Path(__file__).with_name("prepared.toml"), dict[str, str])


def checked_script(job: CompileJob, code: str, minified: bool = False) -> str:
    """Return a script that fails if the compiled model fails or differs from eager.

    The script is the code followed by a comparison with eager. It is only the code if the code defines no
    `inputs`, or if the job has a target or `calls`. If `minified`, the code defines `model` and its inputs under
    the usual names, and the job's `calls` are ignored.
    """
    text = code.rstrip() + "\n"
    if job.target or not HAS_INPUTS.search(text) or (job.calls and not minified):
        return text
    name = "model" if minified else job.model.name
    backend = f"{job.compile.backend_code.rstrip()}\n\n\n" if job.compile.backend_code else ""
    compiled = job.compile.as_call().replace("torch.compile(model", f"torch.compile({name}", 1)
    check = PARTS["comparison"].format(
        seed=job.seed,
        training=PARTS["training_step"] if job.training else "",
        call="train" if job.training else "call",
        model=name,
        compiled=compiled,
    )
    return f"{backend}{text}{check}"
