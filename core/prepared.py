"""A job as it is run: with what its code says of itself, and that code."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import msgspec

from core.errors import JobError
from core.files import read
from core.gallery import literals, sample
from core.job import MAX_CODE_BYTES, CompileJob, CompileOptions, validated


def prepared(job: CompileJob) -> tuple[CompileJob, str]:
    """The job with what its code itself asks for (`training`, `torch_compile`) filled in, and that code."""
    code = model_code(validated(job))
    wanted = literals(code)
    training = bool(wanted.get("training", False)) if job.training is None else job.training
    options = job.compile
    if options == CompileOptions() and isinstance(wanted.get("torch_compile"), dict):
        try:
            options = msgspec.convert(asdict(CompileOptions(**wanted["torch_compile"])), CompileOptions)
        except (TypeError, msgspec.ValidationError) as error:
            raise JobError("model", f"`torch_compile` in the file is not right: {error}") from None
    return validated(replace(job, training=training, compile=options)), code


def model_code(job: CompileJob) -> str:
    """The text of the file that a job runs; raises JobError if it cannot be read."""
    if job.model.kind == "code":
        return job.model.value
    path = sample(job.model.value).path if job.model.kind == "sample" else Path(job.model.value)
    try:
        return read(path, MAX_CODE_BYTES).decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        raise JobError("model.value", f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise JobError("model.value", f"{path} cannot be read: {reason}") from None


def torch_version() -> str:
    """The installed torch, without importing it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("torch")
    except PackageNotFoundError:
        return ""
