"""Records about a run as a whole: what ran where, how far it is, its calls, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.report import Difference, Frame, How
from core.report.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord(Record):
    """Once, first: what ran where."""

    job: dict[str, Any] | None = None
    """the whole `CompileJob`, as in `job.json`"""
    run: str = ""
    """the run's id"""
    torch: str = ""
    """torch's version"""
    python: str = ""
    """Python's version"""
    device: str = ""
    """the device in words, as its driver names it"""
    threads: int | None = None
    """torch's intra-op threads"""
    cpus: int | None = None
    """the machine's CPUs"""
    target: str = ""
    """key of the accelerator that code is generated for without it, otherwise empty"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord(Record):
    """Once a file, as it was when it ran: first the user's own, then those of libraries that torch's stacks name.

    Python files alone, of at most 1 MB each and 8 MB together; neither Python's own library nor Compileboard.
    """

    path: str
    """the path under which torch's stacks name it"""
    text: str = ""
    """the file"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord(Record):
    """Whenever the worker begins something; the live view shows the newest."""

    name: str
    """what it does, in words: `loading the model`, `call 0: compiled`, `measuring`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord(Record):
    """Once a call, after it was made eagerly and compiled, on two copies of the model that were loaded and seeded
    alike.

    Outputs and gradients always have a row of `differences`; inputs and state have one where a call changed them. A
    row's tolerance is 2e-5 for float32 and 1e-2 for bfloat16. Each error counts as a part of its element's magnitude or
    of the typical one around it, whichever is larger: the root mean square over the tensor is compared with the
    tolerance, that of a row, of a column and of one element with twenty times as much. Fills (-1e9, finfo.min) are no
    typical magnitude.

    What is not within the tolerance is judged by a third copy of the model in float64, loaded only then: it is the same
    if compiled is no further from that than eager is, but for a factor of 3 (10 for fewer than ten elements). Where the
    call draws random numbers and compiled draws others, or where eager gives another result each time, `same` is null.
    A backward begins with random numbers, the same for every copy and 1 for a scalar, so that gradients are of order
    one however large the output is.
    """

    index: int
    """number of the call, from 0"""
    inputs: str
    """the inputs in torch's notation: `f32[8, 64, 256]`"""
    eager_s: float | None
    """seconds of this one call, made eagerly"""
    compiled_s: float | None
    """seconds of this one call, compiling included; null in a run for a target, and where torch refused it"""
    differences: tuple[Difference, ...]
    """what was compared, a row each, empty in a run for a target; `what` is its name: `output`, `output['logits'][0]`,
    ``gradient of `0.weight` ``, `input 0`, ``buffer `seen` ``, ``attribute `calls` ``, ``global `cache` ``"""
    compared: dict[str, int] = field(default_factory=dict)
    """how many things of each kind were compared: `output`, `gradient`, `input`, `parameter`, `buffer`, `attribute`,
    `global`
    """
    ended: str = ""
    """in a run for a target: what torch said where it has no code for the CPU, which ends the call; `eager_s` is then
    null
    """
    entered: int | None = None
    """how many places of the program called a frame whose compiled code was found good and used, by Dynamo's own hook;
    null where nobody listened
    """
    newest: tuple[str, ...] = ()
    """for each frame that has code the compilation that was used last, which Dynamo tries first at the next call"""
    how: How = ""
    """what became of the compiled call: `compiled` something, `reused` code alone, ran as `eager` does, `mixed` of
    both, or `raised`; empty where nobody listened"""
    compilations: int | None = None
    """frames that were compiled for it; null where nobody listened"""
    raised: str = ""
    """torch's words where the stance `fail_on_recompile` refused it; the run goes on"""
    printed: str = ""
    """in a run that tries a repair: how the text that the compiled call printed differs from what the code as it was
    prints; empty if it does not"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRecord(Record):
    """Something about how the run was made: that the file compiles its model itself, so that the job's options replaced
    the file's.
    """

    text: str
    """a sentence or two"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountersRecord(Record):
    """Once, near the end: torch's own counters. What a report counts must equal them."""

    dynamo: dict[str, dict[str, int]]
    """`torch._dynamo.utils.counters`, group by group"""
    inductor: dict[str, int]
    """of `torch._inductor.metrics`: `generated_kernel_count`, `generated_cpp_vec_kernel_count`, `ir_nodes_pre_fusion`,
    `num_bytes_accessed`"""
    float32_matmul_precision: str = ""
    """`torch.get_float32_matmul_precision()` as the user's code left it: `highest`, `high` or `medium`"""
    has_tf32: bool = False
    """whether the run's device multiplies float32 as TF32 where it may"""
    recompile_limit: int | None = None
    """`torch._dynamo.config.recompile_limit` as the user's code left it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRecord(Record):
    """Once, if the run ended with an exception."""

    stage: str
    """the step under way: the newest `compileboard_step`"""
    type: str
    """the exception's class"""
    field: str
    """the field of the job that is wrong, where it is the job's fault, otherwise empty"""
    message: str
    """the exception's text"""
    frames: tuple[Frame, ...]
    """the user's own lines of the traceback"""
    traceback: str
    """the whole traceback, its last 40,000 characters"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRecord(Record):
    """Once, last: the log is whole.

    A run that says that it is done, and whose log has no such record, has crashed: it left early, or closed its log.
    Before each record the worker looks whether the log is still the file that torch opened, no shorter and not deleted;
    if not, this record does not count either. Logs of older versions have none; how their runs ended stands in
    `status.json`.
    """

    outcome: str
    """`done`, `failed` or `out of memory`"""


RECORDS: dict[str, type[Record]] = {
    "job": JobRecord,
    "source": SourceRecord,
    "step": StepRecord,
    "call": CallRecord,
    "note": NoteRecord,
    "counters": CountersRecord,
    "error": ErrorRecord,
    "end": EndRecord,
}
