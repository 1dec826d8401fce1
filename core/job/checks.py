"""Checks of a job's fields, and the second configuration of a bit-by-bit comparison."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, JobError
from core.base.words import count, number, suggestion
from core.job.arguments import parse_call, short
from core.job.model import BATCH, FILE_SETTINGS, SCHEMA, CompileJob, CompileOptions, OptionValue
from core.job.options import BY_NAME, OPTIONS, with_values
from core.job.text import MAX_CALLS_CHARS, MAX_CODE_BYTES, MAX_OPTIONS_CHARS, OPTION

MAX_CALLS = 64  #: limit: calls of a model
AS_IT_IS = "a script is run as it is"
# Fields that say how a model is called and compiled.
OF_A_MODEL = (
    *("calls", "training", "compile", "dtype", "device", "target", "repairs", "sizes", "marks", "rival", "memory"),
    *("numerics", "bisect", "bits", "aoti", "neighbours", "capture"),
)
# Types of torch's devices, and the names that packages give to PrivateUse1.
DEVICE_TYPES = (
    *("cpu", "cuda", "mps", "xpu", "mtia", "hpu", "xla", "vulkan", "ipu", "ve", "maia", "fpga", "lazy", "meta"),
    *("privateuseone", "npu", "mlu", "musa", "gcu", "sdaa", "dipu", "rbln", "spyre", "neuron", "tpu", "openreg"),
)
COMMON_DEVICES = ("cpu", "cuda", "mps", "xpu")
# Names that people give to devices of the type `cuda`.
CUDA_TOO = ("gpu", "hip", "rocm", "nvidia", "amd")
MAX_REPAIRS = 64  #: limit: repairs of a model's code
MAX_SIZE = 2**40  #: limit: a changed dimension of an input
MAX_SIZES = 64  #: limit: changed or marked dimensions of a job
BACKEND = r"[\w.-]{1,100}"
DIMENSION = rf"{BATCH}|\w{{1,100}}(\.\d{{1,3}}){{1,8}}"
DIMENSIONS = rf"({DIMENSION})(\+({DIMENSION})){{0,15}}"
EVAL = "eval"
# Options of a job that two configurations may differ in, and the types of their values.
FIELDS: dict[str, tuple[type, ...]] = {
    "training": (bool,),
    "threads": (int,),
    "mode": (str, type(None)),
    "dynamic": (bool, type(None)),
}
OWN: dict[str, tuple[type, ...]] = {BATCH: (int,), EVAL: (bool,), **FIELDS}
MAX_SETTINGS = 16  #: limit: settings of the other configuration in a comparison bit by bit


def job_from_json(data: bytes | str) -> CompileJob:
    """Parse and validate a job; raises JobError that names the field."""
    try:
        job = decoded_as(data, CompileJob)
    except DecodeError as error:
        where = re.search(r"`\$\.?([^`]*)`", str(error))
        if where is None:
            raise JobError("job", f"this is not the JSON of a job: {error}") from None
        raise JobError(where.group(1) or "job", str(error)) from None
    return validated(job)


def validated(job: CompileJob) -> CompileJob:
    """Return the job itself if every field is valid; raises JobError."""
    for check in (_check_text, _check_model, _check_calls, _check_compile, _check_device, _check_target, _check_each):
        check(job)
    for check in (_check_repairs, _check_conditions, _check_sizes, _check_rival, _check_bits, _check_aoti):
        check(job)
    _check_profile(job)
    return job


def _require(condition: bool, name: str, message: str) -> None:
    if not condition:
        raise JobError(name, message)


def _texts(job: CompileJob) -> tuple[tuple[str, object], ...]:
    """Return the parts of a job that contain text from a user."""
    rival = job.rival or CompileOptions()
    return (
        ("model", job.model),
        ("calls", job.calls),
        ("compile.options", job.compile.options),
        ("compile.backend_code", job.compile.backend_code),
        ("rival.options", rival.options),
        ("rival.backend_code", rival.backend_code),
        ("rival_code", job.rival_code),
        ("conditions", job.conditions),
        ("sizes", list(job.sizes)),
        ("bits", job.bits),
    )


def _check_text(job: CompileJob) -> None:
    for name, part in _texts(job):
        try:
            msgspec.json.encode(part)
        except (UnicodeEncodeError, TypeError):
            raise JobError(name, "it holds something that JSON cannot, such as half a Unicode character") from None


def _check_model(job: CompileJob) -> None:
    _require(job.schema == SCHEMA, "schema", f"this is schema {job.schema}; this version reads {SCHEMA}")
    _require(bool(job.model.value.strip()), "model.value", "name a sample, a file, or paste code")
    named = job.model.is_script or job.model.name.isidentifier()
    _require(named, "model.name", f"`{job.model.name[:60]}` is not a Python name")
    both = job.model.is_script and job.model.as_model
    _require(not both, "model.as_model", "a job is either for a script or for a model")
    _check_code("model.value", job.model.value)
    pasted = job.model.kind == "code" and not job.model.is_script
    _require(pasted or not job.exercise, "exercise", "a solution is pasted code with a `model`, not a sample or a file")
    _check_script(job)


def _check_script(job: CompileJob) -> None:
    """Raise JobError if a script's job has settings for the calls of a model.

    A script makes its own calls.
    """
    if not job.model.is_script:
        return
    _require(job.model.kind != "sample", "model.name", "a sample is no script")
    as_it_is = CompileJob(job.model)
    for name in OF_A_MODEL:
        is_default = getattr(job, name) == getattr(as_it_is, name)
        _require(is_default, name, f"{AS_IT_IS}, with settings of its own; for a model, define `model` and `inputs`")
    chosen = replace(job.conditions, threads=None, dynamo=None, caches=as_it_is.conditions.caches)
    _require(chosen == as_it_is.conditions, "conditions.stance", f"{AS_IT_IS}, and sets its own stance")


def _check_code(where: str, code: str) -> None:
    size = len(code.encode("utf-8", "surrogatepass"))
    _require(size <= MAX_CODE_BYTES, where, f"{size} bytes are more than the {MAX_CODE_BYTES} that are accepted")
    _require("\0" not in code, where, "it holds a NUL character")


def _check_calls(job: CompileJob) -> None:
    _require(len(job.calls) <= MAX_CALLS, "calls", f"{count(len(job.calls), 'call')} are more than {number(MAX_CALLS)}")
    short("\n".join(job.calls), MAX_CALLS_CHARS, "calls")
    for index, text in enumerate(job.calls):
        parse_call(text, f"calls[{index}]")


def _check_compile(job: CompileJob) -> None:
    _check_options("compile", job.compile)
    strange = next((name for name in job.from_file or () if name not in FILE_SETTINGS), None)
    _require(strange is None, "from_file", f"`{strange}` is none of {', '.join(FILE_SETTINGS)}")


def _check_options(where: str, chosen: CompileOptions) -> None:
    for option in OPTIONS:
        if option.check and option.path.startswith("compile."):
            problem = option.check(getattr(chosen, option.name))
            _require(not problem, f"{where}.{option.name}", problem)
    both = chosen.mode is not None and chosen.options is not None
    _require(not both, f"{where}.options", "torch.compile takes either mode or options, not both")
    _require(bool(re.fullmatch(BACKEND, chosen.backend)), f"{where}.backend", "this is no name of a backend")
    _check_code(f"{where}.backend_code", chosen.backend_code)
    _check_typed(f"{where}.options", chosen.options or {})


def _check_typed(where: str, options: Mapping[str, OptionValue]) -> None:
    texts = sum(len(name) + (len(value) if isinstance(value, str) else 1) for name, value in options.items())
    _require(texts <= MAX_OPTIONS_CHARS, where, f"at most {number(MAX_OPTIONS_CHARS)} characters")
    for name, value in options.items():
        is_option = isinstance(value, (bool, int, float, str, type(None)))
        _require(is_option, f"{where}.{name}", "an option is a number, a text, true, false or null")


def _check_device(job: CompileJob) -> None:
    kind = job.device.partition(":")[0]
    hint = "did you mean cuda?" if kind in CUDA_TOO else suggestion(kind, COMMON_DEVICES)
    _require(kind in DEVICE_TYPES, "device", f"torch has no device `{job.device[:40]}`; {hint}")
    _require(bool(re.fullmatch(r"\w+(:\d{1,3})?", job.device)), "device", "write it as cpu, cuda or cuda:0")


def _check_target(job: CompileJob) -> None:
    if not job.target:
        return
    _require(job.device == "cpu", "device", "with a target the model itself runs on the CPU: leave `device` at cpu")
    _require(job.compile.backend == "inductor", "compile.backend", "only inductor generates code for a target")
    _require(not job.compile.backend_code, "compile.backend_code", "only inductor generates code for a target")


def _check_each(job: CompileJob) -> None:
    """Apply the check of each option in `OPTIONS`; raises JobError."""
    for option in OPTIONS:
        problem = option.check(option.of(job)) if option.check else ""
        _require(not problem, option.path, problem)


def _check_repairs(job: CompileJob) -> None:
    total = sum(map(len, job.repairs))
    _require(total <= MAX_REPAIRS, "repairs", f"{count(total, 'repair')} are more than {number(MAX_REPAIRS)}")
    _require(bool(re.fullmatch(r"[\w-]{0,200}", job.repairs_of)), "repairs_of", "this is no id of a run")
    _require(bool(re.fullmatch(r"[\w-]{0,200}", job.sweep)), "sweep", "this is no id of a sweep")


def _check_conditions(job: CompileJob) -> None:
    chosen = job.conditions
    backend = chosen.force_backend
    _require(not backend or bool(re.fullmatch(BACKEND, backend)), "conditions.force_backend", "no name of a backend")
    is_run = not (job.target and chosen.are_caches_filled)
    _require(is_run, "conditions.caches", "code for a target does not run, so no second process can use its caches")
    both = bool(backend) and chosen.stance != "default"
    _require(not both, "conditions.force_backend", "torch takes it in the default stance alone")
    _check_typed("conditions.dynamo", chosen.dynamo or {})


def _check_sizes(job: CompileJob) -> None:
    for at, size in job.sizes.items():
        _require(bool(re.fullmatch(DIMENSION, at)), "sizes", f"`{at[:60]}`: write {BATCH}, or 0.1 for a dimension")
        _require(0 <= size <= MAX_SIZE, f"sizes.{at}", f"from 0 to {number(MAX_SIZE)}")
    _require(len(job.sizes) + len(job.marks) <= MAX_SIZES, "sizes", f"at most {number(MAX_SIZES)} dimensions")
    for at in job.marks:
        _require(bool(re.fullmatch(DIMENSION, at)), "marks", f"`{at[:60]}`: write {BATCH}, or 0.1 for a dimension")


def _check_rival(job: CompileJob) -> None:
    _check_code("rival_code", job.rival_code)
    if job.rival is not None:
        _check_options("rival", job.rival)
    field = "rival" if job.rival is not None else "rival_code"
    is_alone = job.rival is None and not job.rival_code
    _require(is_alone or not job.target, field, "code for a target does not run, so nothing can be timed")


def _check_bits(job: CompileJob) -> None:
    if not job.bits:
        return
    _require(not job.target, "bits", "code for a target does not run, so it has no values")
    _require(job.compile.backend == "inductor", "bits", "only inductor's kernels are compared bit by bit")
    _check_typed("bits", job.bits)
    _check_options("bits", other_configuration(job).compile)


def _check_profile(job: CompileJob) -> None:
    if not job.profile:
        return
    _require(not job.target, "profile", "code for a target does not run, so it has no profile")
    _require(not job.model.is_script, "profile", f"{AS_IT_IS}; use torch.profiler in it, and add its file to the run")


def _check_aoti(job: CompileJob) -> None:
    if job.aoti is None:
        return
    _require(not job.target, "aoti", "a package needs the device that it runs on, not a target")
    _require(len(job.aoti.dims) <= MAX_SIZES, "aoti.dims", f"at most {number(MAX_SIZES)} dimensions")
    places = [place for dim in job.aoti.dims for place in dim.at.split("+")]
    _require(len(set(places)) == len(places), "aoti.dims", "a dimension has one Dim")
    for dim in job.aoti.dims:
        shape = f"`{dim.at[:60]}`: write {BATCH}, 0.1 for a dimension, or 0.0+1.0 for two that are the same"
        _require(bool(re.fullmatch(DIMENSIONS, dim.at)), "aoti.dims", shape)
        least, most = dim.least, dim.most
        in_range = all(bound is None or 0 <= bound <= MAX_SIZE for bound in (least, most))
        _require(in_range, "aoti.dims", f"`{dim.at}`: bounds are from 0 to {number(MAX_SIZE)}")
        _require(least is None or most is None or least < most, "aoti.dims", f"`{dim.at}`: its least size is not less")


def other_configuration(job: CompileJob) -> CompileJob:
    """Return the job with the settings in `bits` applied; the worker applies `batch` and `eval`.

    Raises JobError for a setting that cannot be changed.
    """
    if len(job.bits) > MAX_SETTINGS:
        raise JobError("bits", f"at most {number(MAX_SETTINGS)} settings")
    other = job
    for name, value in job.bits.items():
        if name.startswith(OPTION) and name != OPTION:
            options = {**(other.compile.options or {}), name.removeprefix(OPTION): value}
            other = other.with_settings(mode=None, options=options)
        else:
            _check(name, value)
            other = with_values(other, {BY_NAME[name].path: value}) if name in FIELDS else other
    if other.compile.mode != job.compile.mode and other.compile.mode:
        other = other.with_settings(options=None)
    return replace(other, bits={})


def _check(name: str, value: Any) -> None:
    if name not in OWN:
        raise JobError("bits", f"`{name[:60]}` is none of {', '.join(OWN)}; write {OPTION}NAME for Inductor's own")
    if type(value) not in OWN[name]:
        kinds = " or ".join("none" if kind is type(None) else kind.__name__ for kind in OWN[name])
        raise JobError("bits", f"`{name}` takes {kinds}, not `{value!s:.60}`")
    if name == BATCH and not 1 <= value <= 2**40:
        raise JobError("bits", "`batch` is at least 1")
    check = BY_NAME[name].check if name in FIELDS else None
    if problem := check(value) if check else "":
        raise JobError("bits", problem)
