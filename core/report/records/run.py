"""Records about a run as a whole: its setting, its progress, its calls, and its end.

Records of measurements: calls, kernels, the device's ceilings, and autotuning.

The record of memory: what one call took, eagerly or compiled.

Records of backends: the executions of the callables that they returned.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.report import Execution, Executions, KernelTime, Load
from core.report.measurements import MemoryFigures
from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord(Record):
    """A file as it was when it ran: logged once for each, first the user's own, then those of libraries
    that torch's stacks name.

    Python files alone, of at most 1 MB each and 8 MB together; neither Python's own library nor Compileboard.
    """

    path: str
    """the path under which torch's stacks name it"""
    text: str = ""
    """the file"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord(Record):
    """A step that the worker begins; the live view shows the newest."""

    name: str
    """the step in words: `loading the model`, `call 0: compiled`, `measuring`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRecord(Record):
    """A note about how the run was made, such as that the file compiles its model itself, so that the
    job's options replaced its own.
    """

    text: str
    """a sentence or two"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRecord(Record):
    """The end of a complete log: logged once, last.

    A run with the status done, but without this record in its log, has crashed: it left early, or closed its log.
    Before each record the worker checks that the log is still the file that torch opened, no shorter and not deleted;
    if not, this record does not count either. Logs of older versions have none; the end of their runs is in
    `status.json`.
    """

    outcome: str
    """`done`, `failed` or `out of memory`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedKernel(KernelTime):
    """A line of an output code that calls a kernel."""

    line: int
    """the line, counted from 1"""
    name: str = ""
    """the kernel's name in the output code"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTimesRecord(Record):
    """The seconds of each kernel call of an output code, forward, backward and extern: logged once for each output code
    that the last call executed, if the job measures. A record whose `path` is empty has in `reason` why nothing was
    timed.

    On an accelerator `samples_s` are from Inductor's own benchmarker, which flushes the L2 cache before each run;
    `in_place_s` and `wrapper_s` are between events of the device, with the launches running ahead of it.
    """

    path: str = ""
    """the file of the output code, as torch's `inductor_output_code` names it"""
    call_s: tuple[float, ...] = ()
    """seconds of the whole compiled call, one after the other and without eager in between"""
    wrapper_s: tuple[float, ...] = ()
    """seconds in the generated `call` for one call of the model, as Inductor wrote it"""
    calls: int = 0
    """number of its calls in one call of the model"""
    kernels: tuple[TimedKernel, ...] = ()
    """the lines that call a kernel"""
    load: Load | None = None
    """the machine's other load while all of them were timed"""
    reason: str
    """why nothing was timed, empty if it was"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord(MemoryFigures):
    """The memory use of the last call, repeated eagerly and compiled: logged for both, if the job asks for it.

    On a CPU each side has a separate process, forked before the model was loaded, which makes all calls and then the
    last one three times more: for the resident memory, and twice under `torch.profiler`, whose memory events of the
    last are recorded. On an accelerator both are made in the run's own process. Before each measurement, gradients and
    results are released, and free memory is returned to the system.
    """

    codes: tuple[str, ...] = ()
    """the files of the generated codes that places are in, as torch's `inductor_output_code` names them"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionsRecord(Record):
    """Executions of the callable that a backend returned: logged once a run."""

    executions: tuple[Execution, ...]
    """the first of each compilation, in order"""
    totals: tuple[Executions, ...]
    """all of them, one for each compilation"""
