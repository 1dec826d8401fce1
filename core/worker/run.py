"""A run in its own process: load the code twice, call it eager and compiled, compare, measure.

The log begins with the job and the machine. It ends with the error, if any, and torch's counters. All
recorders are enabled together while the calls are made.
"""

import errno
import faulthandler
import os
import platform
import re
import signal
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psutil
import torch
import torch._inductor.config
import torch._inductor.metrics
from torch._dynamo.utils import counters

from core.accelerator.program.program import PROGRAMS
from core.accelerator.register import accelerating
from core.base.errors import JobError
from core.base.files import NO_ROOM
from core.job import CompileJob
from core.job.notebook import SUFFIX
from core.job.targets import TARGETS
from core.report import Counters, RunError, Setting
from core.report.records.compilation import NoteRecord, SourceRecord
from core.report.run import NOT_RECORDED
from core.runs.progress import DIRECTORY as PACKAGES
from core.runs.progress import NEIGHBOURS, PROFILING, is_trial
from core.runs.store import Run
from core.runs.stored import profile_path
from core.worker.aoti.stage import PackageStage
from core.worker.backends.selection import (
    backend_file,
    compile_notes,
    compiled_side,
    defines,
    effective_job,
    is_compiled,
    load_backend,
    register_built_in,
    rival_file,
    write_code,
)
from core.worker.backends.watch import watching_backends
from core.worker.bisection import bisection
from core.worker.bits.compare import bit_comparison
from core.worker.caches import cache_hit_words, fill_caches, lookups, use_run_caches, watching_cache_keys
from core.worker.calls import Pair, eager_raises, make_calls, make_compiled_calls
from core.worker.capture import CAPTURING, emit_captures
from core.worker.conditions import set_dynamo, set_threads
from core.worker.environment import device_name, devices, has_device
from core.worker.load import ModelCopy, suggestion, user_frames, write_cells
from core.worker.measuring.kernel_times import measure_kernels
from core.worker.measuring.pairs import SLOW_LIMIT_S, measure_alternative, time_calls
from core.worker.measuring.profiler import record_profile
from core.worker.measuring.roofline import emit_roofline
from core.worker.memory.allocator import MemoryWatch
from core.worker.neighbours.stage import NeighbourStage
from core.worker.numerics import emit_graph_numerics
from core.worker.record import LogWatch, emit, flush, is_recorded, silence, start_trace, step
from core.worker.recorders.bytecode import graph_counts, watching_bytecode, watching_cudagraphs
from core.worker.recorders.guards import watching_guards
from core.worker.recorders.logs import watching_debug_files, watching_logs, watching_tracing
from core.worker.recorders.partition import emit_saved_values, watching_autotuning, watching_partition
from core.worker.recorders.passes import PassRecorder
from core.worker.recorders.scheduler import ScheduleRecorder
from core.worker.recorders.stacks import DeferredRecords, Modules
from core.worker.script import RUNNING, run_script
from core.worker.user_kernels import interpret_kernels

# Exit codes that user code is unlikely to use. They only count if the log has its last record.
DONE, FAILED, OUT_OF_MEMORY, LOG_LOST, DISK_FULL = 100, 101, 102, 103, 104
OUTCOMES = {DONE: "done", FAILED: "failed", OUT_OF_MEMORY: "out of memory", DISK_FULL: "failed"}
NODES = "holding each node against float64"
BITS = "comparing bit by bit"
MOST_NODES_S = 300.0  #: limit: seconds of comparing the nodes of all graphs with float64
# Share of the time left that the neighbours may take together.
NEIGHBOURS_SHARE = 0.8
# Share of the time left that the search for the cause may take.
BISECTED = 0.8
CODE_UNUSED = (
    "The code of the backend defines no callable `{name}`: the one that torch has by this name was used. By convention "
    "it is called `backend`, which `compile.backend` then names."
)
HANDLERS_CHANGED = (
    "The code removed torch's trace handlers, or changed torch's logger of traces; later records of torch are missing."
)
NOT_MADE = "the last call was not made compiled, since its stance refused it."
BRIEF_S = 2.0
REFUSED = "The last call was not made compiled, since its stance refused it: nothing was measured."
MAX_TRACEBACK_CHARS = 40_000  #: a traceback


class RunStep:
    """Current step of the run, recorded with an error."""

    def __init__(self, later: DeferredRecords) -> None:
        self.name = "starting"
        self._later = later

    def enter(self, name: str) -> None:
        self.name = name
        self._later.record()
        step(name)


def work(run: Run, job: CompileJob) -> int:
    """Do a run's job; return the exit code. All errors in user code are recorded, not raised."""
    sys.dont_write_bytecode = True
    # A crash in generated code names the line that called it; the supervisor asks for the stacks of a hanging worker.
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR2, 2)
    is_file = job.model.kind == "file" and not job.model.value.endswith(SUFFIX)
    on_disk = Path(job.model.value) if is_file else run.model_path
    sys.path.insert(0, str(Path(job.model.value).parent if job.model.kind == "file" else on_disk.parent))
    path = on_disk if not job.repairs and _has_code(run, on_disk) else run.model_path
    os.chdir(working_directory(run, job))
    conditions = job.conditions
    register_built_in()
    write_code(job, run.path)
    files = [path, *write_cells(path, run.code()), *filter(None, [backend_file(job.compile)])]
    use_run_caches(conditions, run.path)
    filled = fill_caches(conditions, run.path, lambda: make_compiled_calls(job, path))
    original = run.original_path if job.has_original else path
    memory, neighbours = MemoryWatch(job, original, path), NeighbourStage(job, original, path)
    start_trace(run.trace_dir)
    log = LogWatch()
    set_threads(conditions)
    later = DeferredRecords(emit)
    for file in files:
        later.sources.already(str(file))
    step = RunStep(later)
    state = RunState(run, job, original, path, memory, neighbours, step)
    try:
        emit_setting(run, job, files)
        if filled:
            emit(filled)
        with recording(later, job, is_trial(run)), accelerating(emit, run.path / PROGRAMS):
            _make_calls(state)
        _do(STAGES, state)
        if filled:
            emit(NoteRecord(text=cache_hit_words(filled)))
        code = DONE
    except BaseException as error:
        emit_error(step.name, files, error, _eager_raises(state, error))
        code = OUT_OF_MEMORY if _is_out_of_memory(error) else DISK_FULL if _is_disk_full(error) else FAILED
    if job.bisect and not job.target and code in (DONE, FAILED):
        step.enter("bisecting")
        emit(bisection(job, original, path, time.monotonic() + state.left_s * BISECTED))
    later.record()
    emit_counters()
    lacks = log.lacks_torchs_records
    if lacks:
        emit(NoteRecord(text=HANDLERS_CHANGED, lost=True))
    flush()
    # A script's own end counts. The report of a model is made of torch's records.
    is_whole = log.end(OUTCOMES[code]) and (job.model.is_script or not lacks)
    return code if is_whole or code == DISK_FULL else LOG_LOST


def working_directory(run: Run, job: CompileJob) -> Path:
    """Return the working directory: that of the model's file, or a new one in the run's directory.

    On a node of a cluster, it is always a new one, which the node deletes with the run.
    """
    own = Path(job.model.value).parent if job.model.kind == "file" else None
    # On a node, the directory's name differs from the id.
    if own is not None and own.is_dir() and run.path.name == run.id:
        return own
    scratch = run.path / "script"
    scratch.mkdir(exist_ok=True)
    return scratch


def _is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "DefaultCPUAllocator: " in str(error)


def _is_disk_full(error: BaseException) -> bool:
    """Return True if the disk was full, for this process or for the compiler that it ran."""
    here = isinstance(error, OSError) and error.errno in NO_ROOM
    return here or os.strerror(errno.ENOSPC) in str(error)


@dataclass(frozen=True, slots=True)
class Sides:
    """Sides of a run after its calls: the last pair, both model copies, and the compiled function."""

    last: Pair
    copies: tuple[ModelCopy, ModelCopy]
    function: Callable[..., Any]


@dataclass(slots=True)
class RunState:
    """A run's job with its files and standby processes, and the sides after its calls.

    `eager` is the model copy of eager calls, once it is loaded. `made` is None for a script, for a target, and if the
    last call was not made compiled.
    """

    run: Run
    job: CompileJob
    original: Path
    path: Path
    memory: MemoryWatch
    neighbours: NeighbourStage
    step: RunStep
    eager: ModelCopy | None = None
    made: Sides | None = None

    @property
    def sides(self) -> Sides:
        """The sides; raises LookupError if there are none."""
        if self.made is None:
            raise LookupError(NOT_MADE)
        return self.made

    @property
    def left_s(self) -> float:
        """Seconds until the run's time limit."""
        return self.job.time_limit_s - (time.time() - psutil.Process().create_time())


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage after the calls: its name, whether a job wants it, and its work.

    A stage without a name enters steps of its own. A stage with `not_made` needs the sides; without them, the run
    gets this text as a note, if it is not empty.
    """

    name: str
    is_wanted: Callable[[CompileJob], bool]
    do: Callable[[RunState], None]
    not_made: str | None = None


def _do(stages: Collection[Stage], state: RunState) -> None:
    for stage in stages:
        if not stage.is_wanted(state.job):
            continue
        if stage.not_made is not None and state.made is None:
            if stage.not_made:
                emit(NoteRecord(text=stage.not_made))
            continue
        if stage.name:
            state.step.enter(stage.name)
        stage.do(state)


def _make_calls(state: RunState) -> None:
    """Make, compare and measure the calls."""
    job, path, step = state.job, state.path, state.step
    _select_device(job)
    if backend_file(job.compile) is not None:
        step.enter("loading the backend")
        load_backend(job)
    interpret_kernels(bool(job.target))
    if job.model.is_script:
        set_dynamo(job.conditions)
        step.enter(RUNNING)
        run_script(job, path, emit)
        return
    step.enter("loading the model")
    eager = state.eager = ModelCopy(state.original, job, "compileboard_eager")
    compiled = ModelCopy(path, job, "compileboard_model")
    for text in compile_notes(job, compiled):
        emit(NoteRecord(text=text))
    if job.compile.backend_code and not defines(job):
        emit(NoteRecord(text=CODE_UNUSED.format(name=job.compile.backend)))
    set_threads(job.conditions)
    set_dynamo(job.conditions)
    if job.target:
        _generate(job, eager, compiled, step)
        return
    function = compiled_side(job, compiled)
    last = make_calls(effective_job(job, compiled), state.original, eager, compiled, function, step.enter)
    state.made = Sides(last, (eager, compiled), function) if last else None
    _do(MEASUREMENTS, state)


def _measure(state: RunState) -> None:
    """Time the eager and the compiled call, and the kernels unless a sweep compares two of them."""
    job, (eager, compiled) = state.job, state.sides.last
    # A search asks how both configurations compare, hundreds of times, and of eager only about how long a call takes.
    is_brief = bool(job.sweep and job.rival)
    most_s = min(BRIEF_S if is_brief else SLOW_LIMIT_S, state.left_s / 2)
    with silence():
        times = time_calls({"eager": eager, "compiled": compiled}, job.device, most_s)
        emit(times)
        if is_brief:
            return
        state.step.enter("timing the kernels")
        steady_s = statistics.median(times.steady("compiled"))
        with compiled.ready():
            timed = measure_kernels(compiled, steady_s, job.device, state.left_s / 2)
        if timed:
            emit_roofline(job.device)


def _measure_alternative(state: RunState) -> None:
    most_s, baseline = min(SLOW_LIMIT_S, state.left_s / 2), rival_file(state.job)
    paths = (baseline, baseline) if baseline else (state.original, state.path)
    emit(measure_alternative(state.job, paths, state.sides.last[1], most_s, state.step.enter))


def _package(state: RunState) -> None:
    stage = PackageStage(state.job, state.run.path / PACKAGES, state.original, state.path)
    stage.run(state.made.last if state.made else None, min(SLOW_LIMIT_S, state.left_s / 4), state.step.enter)


def _profile(state: RunState) -> None:
    compiled, function = state.sides.copies[1], state.sides.function
    record_profile(state.job, compiled, function, profile_path(state.run), state.left_s / 2)


def _compare_nodes(state: RunState) -> None:
    emit_graph_numerics(state.job, state.path, time.monotonic() + min(MOST_NODES_S, state.left_s / 2))


MEASUREMENTS = (
    Stage("measuring", lambda job: job.measure, _measure, REFUSED),
    Stage("", lambda job: job.measure and bool(job.rival or job.rival_code), _measure_alternative, ""),
    Stage(
        "measuring memory",
        lambda job: job.memory,
        lambda state: state.memory.emit(state.sides.last, state.sides.copies),
        "",
    ),
)
# After the recorders: each loads the model anew, or has its own records.
STAGES = (
    Stage("", lambda job: job.aoti is not None, _package),
    Stage(PROFILING, lambda job: job.profile, _profile, f"{NOT_RECORDED}{NOT_MADE}"),
    Stage(CAPTURING, lambda job: job.capture, lambda state: emit_captures(state.job, state.path)),
    Stage(NODES, lambda job: job.numerics == "nodes" and not job.target, _compare_nodes),
    Stage(
        BITS,
        lambda job: bool(job.bits) and not job.target,
        lambda state: emit(bit_comparison(state.job, state.path)),
    ),
    Stage(
        NEIGHBOURS,
        lambda job: job.neighbours and not job.target,
        lambda state: state.neighbours.run(state.left_s * NEIGHBOURS_SHARE),
    ),
)


def _generate(job: CompileJob, eager: ModelCopy, compiled: ModelCopy, stage: RunStep) -> None:
    """Make the calls and generate code for the target; the calls run eagerly on the CPU."""
    from core.worker.cross_compilation.generate import compiled_for, generating, make_calls

    with generating(TARGETS[job.target]):
        make_calls(job, eager, compiled, compiled_for(compiled.model, job.compile), stage.enter)


def _has_code(run: Run, path: Path) -> bool:
    """Return True if a file still has the code that the run was submitted with.

    The file may have changed, and on another machine the path may name another file. If the code can't be
    compared, return True if the file exists.
    """
    try:
        return path.read_text(encoding="utf-8") == run.model_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return path.exists()


def _select_device(job: CompileJob) -> None:
    """Make the job's device the current one: events, streams and generators belong to the current device."""
    if not has_device(job.device):
        raise JobError("device", f"`{job.device}` is not here; this machine has {', '.join(devices())}")
    index = torch.device(job.device).index
    if index is not None:
        torch.accelerator.set_device_index(index)


def emit_setting(run: Run, job: CompileJob, paths: Collection[Path]) -> None:
    """Record the job, its machine, and the files of the model and of its backend."""
    emit(
        Setting(
            job=msgspec.to_builtins(job),
            run=run.id,
            torch=torch.__version__,
            python=platform.python_version(),
            device=device_name(job.device) if job.device in devices() else job.device,
            threads=torch.get_num_threads(),
            cpus=os.cpu_count(),
            target=job.target,
        )
    )
    for path in filter(Path.exists, paths):
        emit(SourceRecord(path=str(path), text=path.read_text(encoding="utf-8", errors="replace")))


def emit_counters() -> None:
    """Record torch's counters, and torch's settings at the end of the run."""
    metrics = torch._inductor.metrics
    names = ("generated_kernel_count", "generated_cpp_vec_kernel_count", "ir_nodes_pre_fusion", "num_bytes_accessed")
    emit(
        Counters(
            dynamo={group: dict(values) for group, values in counters.items()},
            inductor={name: getattr(metrics, name) for name in names},
            float32_matmul_precision=torch.get_float32_matmul_precision(),
            # Queried only if CUDA is initialized, since the query would initialize it.
            has_tf32=torch.cuda.is_initialized() and torch.cuda.is_tf32_supported(),
            recompile_limit=torch._dynamo.config.recompile_limit,
            cudagraphs=dict(graph_counts),
        )
    )


COMPILED_CALL = re.compile(r"^call (\d+): compiled$")


def _eager_raises(state: RunState, error: BaseException) -> bool | None:
    """Return True if eager raises the error of a compiled call, too; None if it is not tried."""
    match = COMPILED_CALL.match(state.step.name)
    is_early = state.left_s > state.job.time_limit_s / 2
    if match is None or state.eager is None or not is_early or is_compiled(state.eager.model):
        return None
    return eager_raises(state.job, state.eager, int(match[1]), error)


def emit_error(stage: str, paths: Collection[Path], error: BaseException, raises: bool | None = None) -> None:
    """Record an error with the lines of the user's files and the full traceback."""
    trace = traceback.TracebackException.from_exception(error)
    emit(
        RunError(
            stage=stage,
            type=type(error).__name__,
            field=error.field if isinstance(error, JobError) else "",
            message=f"{error}{suggestion(error)}"[:MAX_TRACEBACK_CHARS],
            frames=user_frames(paths, error),
            traceback="".join(trace.format())[-MAX_TRACEBACK_CHARS:],
            eager_raises=raises,
        )
    )


@contextmanager
def recording(later: DeferredRecords, job: CompileJob, brief: bool = False) -> Iterator[None]:
    """Enable all recorders of a run, and disable caches that would hide compilations.

    A run that tests the caches keeps them enabled. Slow records are deferred to `later`, so that no call waits for
    them.
    """
    # torch.compile deep-copies Inductor's config; a bound method would be copied with its object, a lambda isn't.
    modules = Modules()
    recorder = ScheduleRecorder(emit, modules)
    passes = PassRecorder(emit, modules, later.sources)
    settings = {
        "_pre_fusion_custom_pass": lambda nodes: recorder.before_fusion(nodes),
        "_post_fusion_custom_pass": lambda nodes: recorder.after_fusion(emit_saved_values(emit, nodes)),
    }
    # With a custom pass, torch doesn't use its graph caches.
    conditions = job.conditions
    watched = {} if conditions.are_caches_filled else settings
    with (
        watching_logs(job.logs),
        recorder.watching_fusions(passed_on=bool(job.logs)),
        lookups(conditions),
        torch._inductor.config.patch(watched),
        recorder.watching_kernels(),
        watching_bytecode(emit, is_recorded, later),
        watching_guards(emit, brief),
        watching_tracing(emit),
        watching_autotuning(emit),
        watching_cache_keys(emit),
        passes.watching(),
        watching_partition(emit, passes.subgraph),
        watching_backends(emit, is_recorded, passes.recording_origins),
        watching_cudagraphs(),
        watching_debug_files(job.debug_files),
    ):
        yield
