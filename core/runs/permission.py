"""Jobs permitted on servers without user code: samples with flags, integers and fixed words.

No text from a visitor reaches a compiler, a path or a command: some of Inductor's options become part of
g++'s command line, and others name files that Inductor writes.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.accelerator.backends import SHIPPED_BACKENDS
from core.accelerator.program.program import PASSES
from core.analysis.repairs.settings import named_setting
from core.base.decoder import toml_as
from core.base.errors import AccessError, JobError
from core.base.words import number
from core.job import GIB, MAX_THREADS, MODES, CompileJob, OptionValue, job_from_json, job_to_json
from core.job.arguments import OwnCall, TensorSpec, parse_call
from core.job.checks import other_configuration
from core.job.gallery import sample
from core.job.options import OPTIONS as OPTIONS_OF_A_JOB
from core.job.options.call import FLAG, Names, OneOf, Whole
from core.runs.store import Run
from core.runs.tools.tasks import Interpret, Request

BACKENDS = (
    *SHIPPED_BACKENDS,
    "accelerator",
    "inductor",
    "aot_eager",
    "aot_eager_decomp_partition",
    "aot_eager_default_partitioner",
    "cudagraphs",
    "eager",
)
DEVICES = ("cpu", "cuda", "xpu", "mps")
MOST_CALL_CHARS = 2_000  #: limit: a call's arguments, where code is not allowed
MOST_ELEMENTS = 2**28  #: limit: elements of an input, where code is not allowed
MOST_SIZE = 2**16  #: limit: a dimension of a sample's input, where code is not allowed
MOST_MEMORY_BYTES = 1024 * GIB  #: limit: the memory limit of a visitor's job
MOST_PROGRAM = 2**31 - 1  #: a program id for the interpreter
CLOSED = "this option is not open to visitors of a server that does not run their code"
LITERALS = (bool, int, float, complex, type(None))


@dataclass(frozen=True, slots=True)
class _Rules:
    """Names of flags, and of whole numbers with their bounds."""

    flags: tuple[str, ...]
    numbers: dict[str, tuple[int, int]]

    @property
    def rules(self) -> dict[str, Whole | OneOf]:
        """Return name → rule."""
        return dict.fromkeys(self.flags, FLAG) | {name: Whole(*bounds) for name, bounds in self.numbers.items()}


_PERMITTED = toml_as(Path(__file__).with_name("permission.toml"), dict[str, _Rules])
OPTIONS = {**_PERMITTED["inductor"].rules, "cpp.simdlen": OneOf((None, 0, 1, 128, 256, 512))}
DYNAMO = _PERMITTED["dynamo"].rules


# Options of the backend `accelerator`.
ACCELERATOR: dict[str, Whole | OneOf | Names] = {
    "freeze": FLAG,
    "passes": Names(("all", "none", *PASSES)),
    "without": Names(),
}


# What a repair may set in a sample's file.
OF_REPAIRS: dict[str, Mapping[str, Whole | OneOf | Names]] = {
    "options": OPTIONS,
    "dynamo": DYNAMO,
    "functorch": {"activation_memory_budget": OneOf((0.5,))},
    "compile": {"dynamic": OneOf((None, False, True)), "fullgraph": FLAG, "mode": OneOf((None, *MODES))},
    "threads": {"threads": Whole(1, MAX_THREADS)},
}


def allowed(job: CompileJob) -> CompileJob:
    """Return the job, with every field in its declared type, if any visitor may submit it.

    Raises JobError if the job requires permission to run code.
    """
    typed = _through_json(job)
    for check in (_check_each, _check_model, _check_compile, _check_repairs, _check_device, _check_calls):
        check(typed)
    return typed


def allowed_request(run: Run, request: Request) -> Request:
    """Return the request itself if it runs no code from a visitor; raises AccessError."""
    if isinstance(request, Interpret):
        if request.code:
            raise AccessError("this server does not run code that visitors bring")
        if not all(0 <= axis <= MOST_PROGRAM for axis in request.program):
            raise AccessError("a program id is a whole number from 0 up")
    if request.kernel and run.status().kind == "log":
        raise AccessError("the tools run code that the log brings; this server does that for its own runs alone")
    return request


def _through_json(job: CompileJob) -> CompileJob:
    """Return the job after a JSON round trip, so that every field has its declared type."""
    try:
        return job_from_json(job_to_json(job))
    except (TypeError, UnicodeEncodeError):
        raise JobError("job", "it holds something that JSON cannot") from None


def _require(condition: bool, name: str, message: str) -> None:
    if not condition:
        raise JobError(name, f"{message}, since this server does not run code that visitors bring")


def _check_each(job: CompileJob) -> None:
    """Check each option by its rule for visitors; the checks below restrict some options further."""
    for option in OPTIONS_OF_A_JOB:
        value, rule = option.of(job), option.visitors
        if rule is True or value == option.default:
            continue
        if rule is False:
            raise JobError(option.path, CLOSED)
        _require(rule.holds(value), option.path, f"it takes {rule.words()}")


def _check_model(job: CompileJob) -> None:
    _require(job.model.kind == "sample", "model.kind", "only samples are compiled")
    sample(job.model.value)
    _require(job.model.name == "model", "model.name", "a sample is compiled as its `model`")


def _check_compile(job: CompileJob) -> None:
    other = other_configuration(job).compile if job.bits else None
    for where, options in (("compile", job.compile), ("rival", job.rival), ("bits", other)):
        if options is not None:
            _check_backend(f"{where}.backend", options.backend)
            _require(not options.backend_code, f"{where}.backend_code", "a backend is one of those that ship")
            rules = ACCELERATOR if options.backend == "accelerator" else OPTIONS
            _check_values(f"{where}.options", options.options or {}, rules)
    _check_values("conditions.dynamo", job.conditions.dynamo or {}, DYNAMO)
    if job.conditions.force_backend:
        _check_backend("conditions.force_backend", job.conditions.force_backend)


def _check_repairs(job: CompileJob) -> None:
    for where, name, value in (named_setting(repair) for step in job.repairs for repair in step):
        if where:
            _check_values(f"repairs.{where}", {name: value}, OF_REPAIRS.get(where, {}))


def _check_backend(field: str, name: str) -> None:
    _require(name in BACKENDS, field, f"it must be one of {', '.join(BACKENDS)}")


def _check_values(where: str, values: Mapping[str, OptionValue], rules: Mapping[str, Whole | OneOf | Names]) -> None:
    for name, value in values.items():
        rule = rules.get(name)
        field = f"{where}.{name[:60]}"
        if rule is None:
            raise JobError(field, CLOSED)
        _require(rule.holds(value), field, f"it takes {rule.words()}")


def _check_device(job: CompileJob) -> None:
    _require(job.device.partition(":")[0] in DEVICES, "device", f"it must be one of {', '.join(DEVICES)}")
    _require(job.memory_limit_bytes <= MOST_MEMORY_BYTES, "memory_limit_bytes", "at most 1,024 GiB")


def _check_calls(job: CompileJob) -> None:
    largest = max(job.sizes.values(), default=0)
    _require(largest <= MOST_SIZE, "sizes", f"a dimension has at most {number(MOST_SIZE)}")
    bounds = [bound or 0 for dim in job.aoti.dims for bound in (dim.least, dim.most)] if job.aoti else []
    _require(max(bounds, default=0) <= MOST_SIZE, "aoti.dims", f"a dimension has at most {number(MOST_SIZE)}")
    for index, text in enumerate(job.calls):
        field = f"calls[{index}]"
        _require(len(text) <= MOST_CALL_CHARS, field, f"at most {number(MOST_CALL_CHARS)} characters")
        call = parse_call(text, field)
        if isinstance(call, OwnCall):
            _require(max(call.sizes.values(), default=0) <= MOST_SIZE, field, f"at most {number(MOST_SIZE)}")
            continue
        leaves = list(_leaves([call.args, call.kwargs]))
        elements = sum(math.prod(leaf.shape) for leaf in leaves if isinstance(leaf, TensorSpec))
        _require(elements <= MOST_ELEMENTS, field, f"at most {number(MOST_ELEMENTS)} elements")
        plain = all(isinstance(leaf, (TensorSpec, *LITERALS)) for leaf in leaves)
        _require(plain, field, "an argument is made of tensors, numbers, True, False and None")


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the leaves of a nested argument, and the dictionary keys that are more than names."""
    if isinstance(value, (list, tuple)):
        for element in value:
            yield from _leaves(element)
    elif isinstance(value, dict):
        yield from (key for key in value if not (isinstance(key, str) and key.isidentifier()))
        yield from _leaves(list(value.values()))
    else:
        yield value
