"""Records about a run as a whole: its source files, steps, notes, and end.

Records of kernel time measurements.

Record of the memory use of one call, eager or compiled.

Records of backends: the executions of the callables that they returned.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.report import CaptureWay, Execution, Executions, Frame, KernelTime, Load
from core.report.measurements import MemoryFigures
from core.report.places import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord(Record):
    """A source file at the time of the run: logged once per file, first the user's own, then library files in torch's
    stacks.

    Only Python files, of at most 1 MB each and 8 MB in total; without Python's own library and Compileboard.
    """

    path: str
    """the file's path in torch's stacks"""
    text: str = ""
    """the file's text"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord(Record):
    """A step that the worker begins; the live view shows the newest."""

    name: str
    """the step in words: `loading the model`, `call 0: compiled`, `measuring`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRecord(Record):
    """A note about how the job was run, for example that the job's options replaced the file's own torch.compile."""

    text: str
    """one or two sentences"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRecord(Record):
    """The end of a complete log: logged once, as the last record.

    A run with the status done, but without this record in its log, has crashed: its process exited early, or its code
    closed the log. Before each record the worker checks that the log is still the file that torch opened, not shorter
    and not deleted; if the check fails, this record does not count. Logs of older versions don't have it: the end of
    their runs is in `status.json`.
    """

    outcome: str
    """`done`, `failed` or `out of memory`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedKernel(KernelTime):
    """A line of the output code that calls a kernel, with its times."""

    line: int
    """the line, counted from 1"""
    name: str = ""
    """the kernel's name in the output code"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTimesRecord(Record):
    """Seconds of each kernel call in an output code, forward and backward, extern kernels included: logged once per
    output code that the last call executed, if the job measures. If nothing was timed, `path` is empty and `reason`
    says why.

    On an accelerator, `samples_s` are from Inductor's own benchmarker, which flushes the L2 cache before each run;
    `in_place_s` and `wrapper_s` are times between device events, with all launches queued ahead.
    """

    path: str = ""
    """the file of the output code, as torch's `inductor_output_code` names it"""
    call_s: tuple[float, ...] = ()
    """seconds of the whole compiled call, calls back to back without eager calls between them"""
    wrapper_s: tuple[float, ...] = ()
    """seconds in Inductor's unchanged generated function `call`, for one call of the model"""
    calls: int = 0
    """number of calls of the output code in one call of the model"""
    kernels: tuple[TimedKernel, ...] = ()
    """the lines that call a kernel"""
    load: Load | None = None
    """the machine's other load while the kernels were timed"""
    reason: str
    """why nothing was timed, empty if it was"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord(MemoryFigures):
    """The memory use of the last call, repeated eagerly and compiled: logged for both, if the job asks for it.

    On a CPU each side has its own process, forked before the model was loaded. It makes all calls, then repeats the
    last call three times: once for the resident memory, and twice under `torch.profiler`, where the last one is
    recorded. On an accelerator both sides run in the run's own process. Before each measurement, gradients and results
    are released, and free memory is returned to the system.
    """

    codes: tuple[str, ...] = ()
    """the files of the output codes that contain places, as torch's `inductor_output_code` names them"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionsRecord(Record):
    """Executions of the callable that a backend returned: logged once a run."""

    executions: tuple[Execution, ...]
    """the first executions of each compilation, in order"""
    totals: tuple[Executions, ...]
    """number of executions, one entry per compilation"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureHead:
    """Header of the artifact `capture`, whose payload is the graph as text; the fields are those of `Capture`."""

    way: CaptureWay
    call: str
    seconds: float
    equal: bool | None = None
    problem: str = ""
    frames: tuple[Frame, ...] = ()
