"""CompileJob: what to compile, how, and within which limits. JSON both ways."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec

from core.arguments import DTYPES, parse_call
from core.decoder import decoded, decoded_as
from core.errors import DecodeError, JobError
from core.targets import TARGETS
from core.words import count, number

SCHEMA = 1
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
MAX_CALLS = 64
MAX_REPAIRS = 64
MAX_CODE_BYTES = 1_000_000
GIB = 1024**3

OptionValue = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Model:
    """Where the callable comes from: a sample's name, a file on the server, or pasted code.

    `name` is the variable that holds the callable; `model` unless said otherwise.
    """

    kind: Literal["sample", "file", "code"]
    value: str
    name: str = "model"


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The parameters of `torch.compile`, with torch's own defaults."""

    fullgraph: bool = False
    dynamic: bool | None = None
    backend: str = "inductor"
    mode: str | None = None
    options: dict[str, OptionValue] | None = None

    def as_call(self) -> str:
        """The call as one would write it, with what differs from the defaults."""
        default = CompileOptions()
        names = ("fullgraph", "dynamic", "backend", "mode", "options")
        given = [f"{name}={getattr(self, name)!r}" for name in names if getattr(self, name) != getattr(default, name)]
        return f"torch.compile({', '.join(['model', *given])})"


@dataclass(frozen=True, slots=True)
class CompileJob:
    """One run: model, calls, options, device and limits.

    `calls` holds the text of each call (see `core.arguments`); empty means the model's own inputs. `dtype` is torch's
    name of a floating dtype that model and inputs are cast to, None for as they are. `target` is a key of
    `core.targets`: code is generated for that accelerator, which need not be there, and the model runs eagerly on the
    CPU. `time_limit_s` counts from the start of the worker; `memory_limit_bytes` is for all its processes together.

    `repairs` are ids of `core.analysis.repairs`, applied to the model's code step by step, those of a step at once:
    the repaired code is compiled, and held against the code as it was, run eagerly. `repairs_of` is the id of the run
    that it was tried from.
    """

    model: Model
    calls: tuple[str, ...] = ()
    training: bool | None = None
    compile: CompileOptions = field(default_factory=CompileOptions)
    dtype: str | None = None
    device: str = "cpu"
    target: str = ""
    seed: int = 0
    measure: bool = True
    time_limit_s: float = 600.0
    memory_limit_bytes: int = 8 * GIB
    repairs: tuple[tuple[str, ...], ...] = ()
    repairs_of: str = ""
    schema: int = SCHEMA

    def title(self) -> str:
        """A short name for lists and headers."""
        return self._model_title() + (" repaired" if self.repairs else "")

    def _model_title(self) -> str:
        if self.model.kind == "sample":
            return self.model.value
        if self.model.kind == "file":
            return f"{self.model.value.rsplit('/', 1)[-1]}:{self.model.name}"
        return f"pasted code:{self.model.name}"

    def differences(self) -> tuple[str, ...]:
        """What differs from a default job, in words for the header."""
        target = f"for {TARGETS[self.target].title}" if self.target in TARGETS else ""
        given = [part for part in (target, self.dtype, "training" if self.training else None) if part]
        call = self.compile.as_call().removeprefix("torch.compile(model").removesuffix(")").removeprefix(", ")
        repairs = [count(sum(map(len, self.repairs)), "repair")] if self.repairs else []
        return (*given, *([call] if call else []), *repairs)


def job_from_json(data: bytes | str) -> CompileJob:
    """Read and validate a job; raises JobError that names the field."""
    try:
        job = decoded_as(data, CompileJob)
    except DecodeError as error:
        where = re.search(r"`\$\.?([^`]*)`", str(error))
        if where is None:
            raise JobError("job", f"this is not the JSON of a job: {error}") from None
        raise JobError(where.group(1) or "job", str(error)) from None
    return validated(job)


def job_to_json(job: CompileJob) -> bytes:
    """The job as JSON, readable by people."""
    return msgspec.json.format(msgspec.json.encode(job), indent=2)


def fingerprint(job: CompileJob, code: str, torch_version: str) -> str:
    """What makes two runs the same: the job without its limits and where it came from, the code behind it, and torch's
    version.
    """
    same = replace(job, time_limit_s=0.0, memory_limit_bytes=0, repairs_of="")
    return hashlib.sha256(msgspec.json.encode([same, code, torch_version])).hexdigest()[:16]


def validated(job: CompileJob) -> CompileJob:
    """The job itself, if every field holds what it must; raises JobError."""
    for check in (_check_text, _check_model, _check_calls, _check_compile, _check_device, _check_target, _check_limits):
        check(job)
    _check_repairs(job)
    return job


def _require(condition: bool, name: str, message: str) -> None:
    if not condition:
        raise JobError(name, message)


def _check_text(job: CompileJob) -> None:
    for name, part in (("model", job.model), ("calls", job.calls), ("compile.options", job.compile.options)):
        try:
            msgspec.json.encode(part)
        except (UnicodeEncodeError, TypeError):
            raise JobError(name, "it holds something that JSON cannot, such as half a Unicode character") from None


def _check_model(job: CompileJob) -> None:
    _require(job.schema == SCHEMA, "schema", f"this is schema {job.schema}; this version reads {SCHEMA}")
    _require(bool(job.model.value.strip()), "model.value", "name a sample, a file, or paste code")
    _require(job.model.name.isidentifier(), "model.name", f"`{job.model.name[:60]}` is not a Python name")
    size = len(job.model.value.encode("utf-8", "surrogatepass"))
    _require(
        size <= MAX_CODE_BYTES, "model.value", f"{size} bytes are more than the {MAX_CODE_BYTES} that are accepted"
    )
    _require("\0" not in job.model.value, "model.value", "it holds a NUL character")


def _check_calls(job: CompileJob) -> None:
    _require(len(job.calls) <= MAX_CALLS, "calls", f"{count(len(job.calls), 'call')} are more than {number(MAX_CALLS)}")
    for index, text in enumerate(job.calls):
        parse_call(text, f"calls[{index}]")


def _check_compile(job: CompileJob) -> None:
    chosen = job.compile
    _require(chosen.mode in (None, *MODES), "compile.mode", f"`{chosen.mode}` is none of {', '.join(MODES)}")
    both = chosen.mode is not None and chosen.options is not None
    _require(not both, "compile.options", "torch.compile takes either mode or options, not both")
    _require(bool(re.fullmatch(r"[\w.-]{1,100}", chosen.backend)), "compile.backend", "this is no name of a backend")
    for name, value in (chosen.options or {}).items():
        known = isinstance(value, (bool, int, float, str, type(None)))
        _require(known, f"compile.options.{name}", "an option is a number, a text, true, false or null")


def _check_device(job: CompileJob) -> None:
    floating = [name for name in DTYPES.values() if "float" in name]
    _require(job.dtype in (None, *floating), "dtype", f"`{job.dtype}` is none of {', '.join(floating)}")
    _require(bool(re.fullmatch(r"[a-z]{2,12}(:\d{1,3})?", job.device)), "device", "write it as cpu, cuda or cuda:0")
    _require(0 <= job.seed < 2**63, "seed", "a whole number from 0 up")


def _check_target(job: CompileJob) -> None:
    if not job.target:
        return
    _require(job.target in TARGETS, "target", f"`{job.target}` is none of {', '.join(TARGETS)}")
    _require(job.device == "cpu", "device", "with a target the model itself runs on the CPU: leave `device` at cpu")
    _require(job.compile.backend == "inductor", "compile.backend", "only inductor generates code for a target")


def _check_limits(job: CompileJob) -> None:
    _require(1 <= job.time_limit_s <= 86_400, "time_limit_s", "from 1 to 86,400 seconds")
    _require(
        job.memory_limit_bytes >= GIB // 2, "memory_limit_bytes", "at least half a gigabyte: torch itself needs that"
    )


def _check_repairs(job: CompileJob) -> None:
    total = sum(map(len, job.repairs))
    _require(total <= MAX_REPAIRS, "repairs", f"{count(total, 'repair')} are more than {number(MAX_REPAIRS)}")
    _require(bool(re.fullmatch(r"[\w-]{0,200}", job.repairs_of)), "repairs_of", "this is no id of a run")


def options_from_text(text: str) -> dict[str, Any] | None:
    """Inductor options typed as `name=value, name=value`; raises JobError.

    A comma that no name follows is part of a value, as in `max_autotune_gemm_backends=CPP,ATEN`.
    """
    if not text.strip():
        return None
    options: dict[str, Any] = {}
    for part in re.split(r",(?=\s*(?:[\w.]+\s*=|$))", text):
        name, separator, value = part.partition("=")
        _require(bool(separator), "compile.options", f"`{part.strip()[:60]}`: write name=value")
        try:
            options[name.strip()] = decoded(value.strip().replace("True", "true").replace("False", "false"))
        except DecodeError:
            options[name.strip()] = value.strip().strip("\"'")
    return options


def options_as_text(options: Mapping[str, OptionValue]) -> str:
    """The same options as they would be typed."""
    return ", ".join(f"{name}={_typed(value)}" for name, value in options.items())


def _typed(value: OptionValue) -> str:
    return str(value) if isinstance(value, bool) else msgspec.json.encode(value).decode()
