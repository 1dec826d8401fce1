"""Progress of a run: steps, counts of ranks, place of a crash, status after a killed supervisor."""

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock

from core.analysis.durations import phase_class
from core.analysis.verdict import graph_count
from core.base.files import open_regular, regular
from core.base.words import limit_s
from core.job import CompileJob
from core.job.targets import TARGETS
from core.report import Kernel, Phase, Report, Setting
from core.runs.status import State, Status
from core.runs.store import Run
from core.runs.tools.tasks import read_task
from core.trace.reader import TraceReader, header_lines

DIRECTORY = "aoti"
PACKAGE = "model.pt2"
INPUTS, EXPECTED = "inputs.bin", "expected.bin"
SOURCES = ("main.cpp", "CMakeLists.txt", "README.md")
# The steps of a run, in order.
EXPORTING, COMPILING = "exporting the model", "compiling the package"
FROM_PYTHON, FROM_CPP = "running the package from Python", "running the package from C++"
PACKAGE_TIMING, TRYING = "timing the package", "trying sizes"
# More ranks are not counted, since each log is read.
MOST_COUNTED = 64  #: ranks of a followed job whose logs are counted
MOST_NEW_BYTES = 16_000_000  #: new bytes of a rank's log that are counted at once
# A restarted compilation starts again, as a later attempt.
START, RESTART = b'{"dynamo_start"', re.compile(rb'"attempt": [1-9]')
GRAPH = b'{"dynamo_output_graph"'


def aoti_steps(job: CompileJob) -> tuple[str, ...]:
    """Return the steps of a job's AOTInductor package; empty if the job requests no package, or trains."""
    if job.aoti is None or job.training:
        return ()
    timing = (PACKAGE_TIMING,) if job.measure else ()
    trying = (TRYING,) if job.aoti.dims or job.marks else ()
    return (EXPORTING, COMPILING, FROM_PYTHON, FROM_CPP, *timing, *trying)


def package_files(run: Run) -> tuple[Path, ...]:
    """Return the stored files of a run's AOTInductor package, with those to call it."""
    names = (PACKAGE, INPUTS, EXPECTED, *SOURCES)
    return tuple(path for name in names if regular(path := run.path / DIRECTORY / name))


TRIALS_DIRECTORY = "trials"


def is_trial(run: Run) -> bool:
    """Return True for a trial of a fix on this machine; on a node of a cluster, it has a run's place."""
    return run.path.parent.name == TRIALS_DIRECTORY


LOADING, MEASURING, TIMING, MEMORY = "loading the model", "measuring", "timing the kernels", "measuring memory"
PROFILING = "recording a profile"
NODES = "holding each node against float64"
NEIGHBOURS = "trying the neighbours"
# A shorter phase is not seen on the timeline.
SHORTEST_S = 0.0005
OF_A_CALL = re.compile(r"(?:making the inputs of )?call (\d+)(?:: (.+))?")
STEP_WORDS = {
    MEASURING: "measuring eager and compiled, interleaved",
    TIMING: "timing each kernel by itself",
    MEMORY: "measuring the memory of eager and of compiled",
    PROFILING: "repeating the compiled calls under torch.profiler",
    NODES: "running the model in float64, and compiling it once more for the value of each node",
    NEIGHBOURS: "converting the model for other compilers and runtimes, and timing each beside eager and compiled",
    EXPORTING: "torch.export captures the whole model",
    COMPILING: "AOTInductor compiles the exported program",
    FROM_CPP: "running the package from C++, by a program that is built once",
    PACKAGE_TIMING: "timing eager, compiled and the package, interleaved",
    "eager": "running eagerly",
    "compiled": "compiling and running",
    "comparing": "comparing with eager",
}
PHASE_WORDS = {
    "dynamo": "Dynamo traces the code",
    "aot_autograd": "AOTAutograd traces the graph down to ATen ops",
    "inductor": "Inductor rewrites the graph and lowers it",
    "codegen": "Inductor fuses ops and writes kernels",
    "compile": "the kernels are compiled",
}


@dataclass(frozen=True, slots=True)
class TimelinePhase:
    """A phase on the timeline of a run, in seconds since the first phase.

    An open phase extends to the newest start or end of a phase. `kind` is its class: dynamo, aot_autograd, inductor,
    codegen, compile, or other. `depth` counts the phases around it.
    """

    name: str
    kind: str
    depth: int
    begin_s: float
    length_s: float
    is_open: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run; `steps` are the worker's own step names, newest last.

    `to_come` are the remaining steps, as far as the job determines them.
    """

    steps: tuple[str, ...] = ()
    to_come: tuple[str, ...] = ()
    phases: tuple[Phase, ...] = ()
    compilations: int = 0
    graphs: int = 0
    kernels: int = 0
    log_bytes: int = 0

    @property
    def now(self) -> tuple[Phase, ...]:
        """Started phases that have not ended, outermost first."""
        return tuple(phase for phase in self.phases if phase.end_us is None)

    @property
    def steps_in_words(self) -> tuple[str, ...]:
        """The steps in plain words, newest last."""
        return tuple(map(step_words, self.steps))

    @property
    def to_come_in_words(self) -> tuple[str, ...]:
        """The remaining steps in plain words."""
        return tuple(map(step_words, self.to_come))

    @property
    def words(self) -> str:
        """Current step: torch's innermost open phase, otherwise the worker's step; empty before the start."""
        kinds = [PHASE_WORDS[kind] for phase in self.now if (kind := phase_class(phase.name)) in PHASE_WORDS]
        if kinds and not is_compiled(self.steps):
            return kinds[-1]
        return step_words(self.steps[-1]) if self.steps else ""

    @property
    def length_s(self) -> float:
        """Seconds from the start of the first phase to the newest start or end of a phase; 0 without phases."""
        return (self._end_us - self._start_us) / 1e6

    def timeline(self, most: int) -> tuple[TimelinePhase, ...]:
        """Return the newest phases, at most `most`, without phases that are too short to be seen."""
        phases = [phase for phase in self.phases if (phase.duration_s or 1) > SHORTEST_S][-most:]
        start_us, end_us = self._start_us, self._end_us
        return tuple(_timeline_phase(phase, start_us, end_us) for phase in phases)

    @property
    def _start_us(self) -> float:
        return min((phase.start_us for phase in self.phases), default=0.0)

    @property
    def _end_us(self) -> float:
        return max((phase.end_us or phase.start_us for phase in self.phases), default=0.0)


def _timeline_phase(phase: Phase, start_us: float, end_us: float) -> TimelinePhase:
    last_us = phase.end_us if phase.end_us is not None else end_us
    begin_s, length_s = (phase.start_us - start_us) / 1e6, max(0.0, last_us - phase.start_us) / 1e6
    return TimelinePhase(phase.name, phase_class(phase.name), phase.depth, begin_s, length_s, phase.end_us is None)


def progress(report: Report | None, job: CompileJob | None = None) -> Progress:
    """Return the progress of a job's run from the report of its log so far; None before there is a log."""
    report = report or Report(Setting())
    return Progress(
        steps=report.steps,
        to_come=_to_come(report.steps, job),
        phases=report.phases,
        compilations=len(report.compilations),
        graphs=graph_count(report),
        kernels=report.kinds.get("artifact:compileboard_kernel", 0),
        log_bytes=report.log_bytes,
    )


def is_compiled(steps: Sequence[str]) -> bool:
    """Return True if all calls were executed and compared, so that only measurements remain."""
    return any(step in steps for step in (MEASURING, MEMORY, EXPORTING, PROFILING, NODES, NEIGHBOURS))


def step_words(step: str) -> str:
    """Return a worker step in plain words."""
    match = OF_A_CALL.fullmatch(step)
    if match and match[2]:
        return f"call {match[1]}: {STEP_WORDS.get(match[2], match[2])}"
    return STEP_WORDS.get(step, step)


def _to_come(steps: Sequence[str], job: CompileJob | None) -> tuple[str, ...]:
    """Return the remaining steps, with one call where the model's file has them; empty without a job."""
    if job is None:
        return ()
    calls = range(max(1, len(job.calls)))
    plan = [LOADING, *(step for index in calls for step in _of_call(index, job))]
    plan += [MEASURING, TIMING] if job.measure and not job.target else []
    plan += [MEMORY] if job.memory and not job.target else []
    plan += aoti_steps(job)
    plan += [PROFILING] if job.profile else []
    plan += [NODES] if job.numerics == "nodes" and not job.target else []
    plan += [NEIGHBOURS] if job.neighbours and not job.target else []
    done = next((place for step in reversed(steps) for place, planned in enumerate(plan) if planned == step), -1)
    return tuple(plan[done + 1 :])


def _of_call(index: int, job: CompileJob) -> tuple[str, ...]:
    parts = (f"generating for {TARGETS[job.target].title}",) if job.target else ("compiled", "comparing")
    return (f"making the inputs of call {index}", *(f"call {index}: {what}" for what in ("eager", *parts)))


MAX_SEARCHED_BYTES = 256 * 1024**2  #: a log that is searched for the kernel of a crash
FRAME = re.compile(r'^  File "(?P<file>[^"\n]+)", line (?P<line>\d+) in \S+$', re.MULTILINE)
FATAL = "Fatal Python error: "
ENDINGS = {"crashed": "crashed", "timed out": "was, when its time limit was over,"}
MOST_ORIGINS = 8  #: ops named beside the kernel of a crash
# Written by the supervisor before the stacks of a worker whose time limit is over.
OVERDUE = "The time limit is over. Stacks of the worker:"


def crashed_kernel(run: Run, report: Report) -> Kernel | None:
    """Return the kernel that a worker was calling when it crashed or timed out; None if unknown.

    The kernel is known if the stacks in the output name a line of an output code in the log.
    """
    frames = _frames(run)
    log = run.log_path()
    if not frames or log is None or log.stat().st_size > MAX_SEARCHED_BYTES:
        return None
    with TraceReader(log) as reader:
        codes = {
            str(record.body.get("filename")): record.offset
            for record in reader.records()
            if record.kind == "inductor_output_code" and isinstance(record.body, dict)
        }
    place = next(((codes[file], line) for file, line in frames if file in codes), None)
    return None if place is None else _called_at(report, *place)


def ending_words(run: Run, report: Report) -> str:
    """Return where a worker crashed or timed out, as a sentence; empty if its output does not say."""
    state = run.status().state
    if state not in ENDINGS:
        return ""
    kernel = crashed_kernel(run, report)
    if kernel is not None:
        ops = ", ".join(f"`{origin}`" for origin in kernel.origins[:MOST_ORIGINS])
        return f"The worker {ENDINGS[state]} in the kernel `{kernel.name}`{f', generated for {ops}' if ops else ''}."
    line = last_line(run, report)
    if line is not None:
        return f"The worker {ENDINGS[state]} at `{line[0].rpartition('/')[2]}:{line[1]}`."
    return ""


def last_line(run: Run, report: Report) -> tuple[str, int] | None:
    """Return the innermost line of user code in the stacks of a crashed worker's output; or None."""
    files = {source.path for source in report.sources}
    return next((frame for frame in _frames(run) if frame[0] in files), None)


def _frames(run: Run) -> list[tuple[str, int]]:
    """Return the frames of the last stacks in the run's output, innermost first; empty if there are none."""
    output = run.output_tail()
    marks = [(output.rfind(mark), mark) for mark in (FATAL, OVERDUE)]
    start, mark = max(marks)
    words = output[start + len(mark) :] if start >= 0 else ""
    return [(match["file"], int(match["line"])) for match in FRAME.finditer(words)]


def _called_at(report: Report, offset: int, line: int) -> Kernel | None:
    """Return the kernel of the last call at or before a line of an output code; None without a call."""
    calls = [
        (call.line, kernel)
        for compilation in report.compilations
        for kernel in compilation.kernels
        if kernel.output_code.offset == offset
        for call in kernel.calls
        if call.line <= line
    ]
    return max(calls, key=lambda call: call[0])[1] if calls else None


SILENT = "its supervisor did not answer, and was killed"


def ended_for(run: Run, status: Status, is_cancelled: bool) -> Status:
    """Return the final status of a live run whose supervisor was killed."""
    if is_cancelled:
        return ended_as(status, "cancelled", SILENT, is_cancelled=True)
    limit = overdue_limit_s(run, status)
    if limit is not None:
        return ended_as(status, "timed out", f"not done after {limit_s(limit)}; {SILENT}")
    return ended_as(status, "interrupted", "its supervisor was killed")


def ended_as(status: Status, state: State, reason: str, is_cancelled: bool = False) -> Status:
    """Return the status of a run that ends now in `state`; `cancelled` if `is_cancelled` is True."""
    if is_cancelled:
        state, reason = "cancelled", f"cancelled by the user; {reason}"
    return replace(status, state=state, reason=reason, ended_s=time.time(), handle="")


def overdue_limit_s(run: Run, status: Status, grace_s: float = 0.0) -> float | None:
    """Return the time limit that a started run has exceeded by more than `grace_s`; None if it has not."""
    limits = read_task(run) or run.job()
    if limits is None or not status.started_s or time.time() - status.started_s <= limits.time_limit_s + grace_s:
        return None
    return limits.time_limit_s


@dataclass(frozen=True, slots=True)
class RankCounts:
    """Sums over all ranks, and the time of the newest write; counts are None for more ranks than are read."""

    ranks: int
    compilations: int | None
    graphs: int | None
    log_bytes: int
    written_s: float


@dataclass(slots=True)
class _Log:
    """Counts of one log, which only grows."""

    path: Path
    offset: int = 0
    compilations: int = 0
    graphs: int = 0
    lock: Lock = field(default_factory=Lock)

    def look(self) -> None:
        """Count the records since the last look, at most 16 MB of them. Raises OSError."""
        with self.lock, open_regular(self.path) as file:
            file.seek(self.offset)
            data = file.read(MOST_NEW_BYTES)
            data = data[: data.rfind(b"\n") + 1]
            self.offset += len(data)
            for header in header_lines(data):
                line = data[header.end() : data.index(b"\n", header.end())]
                self.graphs += line.startswith(GRAPH)
                self.compilations += line.startswith(START) and RESTART.search(line) is None


def rank_counts(run: Run) -> RankCounts:
    """Return the sums over all ranks of a run; a log that cannot be read counts as empty."""
    ranks = run.ranks()
    paths = [path for rank in ranks if (path := run.of_rank(rank).log_path()) is not None]
    states = [status for path in paths if (status := regular(path)) is not None]
    logs = list(_looked(paths)) if len(paths) <= MOST_COUNTED else None
    return RankCounts(
        ranks=len(ranks),
        compilations=None if logs is None else sum(log.compilations for log in logs),
        graphs=None if logs is None else sum(log.graphs for log in logs),
        log_bytes=sum(status.st_size for status in states),
        written_s=max((status.st_mtime for status in states), default=0.0),
    )


def _looked(paths: Iterable[Path]) -> Iterable[_Log]:
    for path in paths:
        log = _log(path)
        try:
            log.look()
        except OSError:
            continue
        yield log


@lru_cache(maxsize=4 * MOST_COUNTED)
def _log(path: Path) -> _Log:
    return _Log(path)
