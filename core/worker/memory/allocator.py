"""Memory of a run's last eager and last compiled call, measured on request under torch's profiler.

On a CPU, each side makes all its calls in a separate process, and repeats the last call. The growth of the
resident memory is measured there too, as Linux counts it.

With `profile_memory`, the profiler records every allocation and release: on a CPU exact storage sizes, on an
accelerator blocks of the caching allocator. Memory that a library takes directly from the system, such as
scratch memory, is missing. On a CPU, the release of memory allocated before the recording has no size, so the
recording starts one call early. Marks in the record show the user's line, the module and the kernel.
"""

import ctypes
import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, get_args

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.profiler import ProfilerActivity, record_function
from torch.utils._pytree import tree_leaves

from core.job import CompileJob
from core.report import AliveMemory, MemoryCurve, MemoryPlace, MemorySide
from core.report.records.compilation import MemoryRecord
from core.worker.backends.selection import compiled_side, load_backend
from core.worker.caches import lookups
from core.worker.calls import ModelCalls, Pair, PreparedCall, observed
from core.worker.conditions import set_dynamo, set_threads
from core.worker.environment import synchronize
from core.worker.load import Arguments, ModelCopy
from core.worker.measuring.instruments import Wrapper, wrappers
from core.worker.measuring.profiler import quiet_profile
from core.worker.record import emit, silence
from core.worker.standby import MAX_REASON_CHARS, StandBy

MOST_POINTS = 1_000  #: points of the curve of a call's memory
MOST_ALIVE = 40  #: limit: places listed for the memory at the peak
MEMORY = "[memory]"
BACKWARD = "autograd::engine::evaluate_function: "
# Profiler events around code that Inductor generated.
COMPILED = ("Torch-Compiled Region", "## Call CompiledFxGraph", "CompiledFunction", "TorchDynamo")
Names = tuple[str, ...]
CALL, LINE, MODULE, KERNEL, CODE = (f"compileboard {what}" for what in ("call", "line ", "module ", "kernel ", "code "))
Trace = Callable[[FrameType, str, Any], Any]


@dataclass(frozen=True, slots=True)
class ProfilerEvent:
    """An event of the profiler and the names around it.

    `bytes` is negative for a release, and 0 for an event other than memory. `total` is the number of allocated
    bytes after the event.
    """

    at_ns: int
    end_ns: int
    names: Names
    pointer: int = 0
    bytes: int = 0
    total: int = 0


def watched(
    call: Callable[[], Any], before: Callable[[], None], marks: Callable[[], AbstractContextManager[Any]], device: str
) -> list[ProfilerEvent]:
    """Make a call twice, and return the events of the profiler, sorted by time.

    `before` runs between both calls. `marks` record lines, modules and kernels of the second call.
    """
    with quiet_profile([ProfilerActivity.CPU], profile_memory=True) as found:
        call()
        before()
        with marks(), record_function(CALL):
            output = call()
    del output
    tree = found.profiler.kineto_results.experimental_event_tree()
    return sorted(flat(tree, device), key=lambda event: event.at_ns)


def flat(tree: Iterable[Any], device: str) -> Iterator[ProfilerEvent]:
    """Yield all events of the profiler's tree, except memory events of other devices."""
    kind = torch.device(device).type
    waiting: list[tuple[Any, Names]] = [(event, ()) for event in tree]
    while waiting:
        event, around = waiting.pop()
        names = (*around, event.name)
        if event.name != MEMORY:
            yield ProfilerEvent(event.start_time_ns, event.end_time_ns, names)
        elif event.extra_fields.device.type == kind:
            said = event.extra_fields
            yield ProfilerEvent(
                event.start_time_ns, event.start_time_ns, around, said.ptr, said.alloc_size, said.total_allocated
            )
        waiting += [(child, names) for child in event.children]


def story(events: list[ProfilerEvent], side: MemorySide) -> MemoryRecord:
    """Return the memory of a side's marked call; the events must be sorted by time."""
    call = next(event for event in events if event.names[-1:] == (CALL,))
    inside = [event for event in events if call.at_ns <= event.at_ns <= call.end_ns]
    memory = [event for event in inside if event.bytes]
    known = _Places()
    where = known.of_all(inside)
    base = memory[0].total - memory[0].bytes if memory else 0
    live = [event.total - base for event in memory]
    at_us = [(event.at_ns - call.at_ns) / 1e3 for event in memory]
    peak = max(range(len(live)), key=live.__getitem__, default=None)
    if peak is None or live[peak] <= 0:
        peak = None
    given = [event.bytes for event in memory if event.bytes > 0]
    kept = _kept(live)
    return MemoryRecord(
        side=side,
        peak_bytes=0 if peak is None else live[peak],
        peak_us=0.0 if peak is None else at_us[peak],
        call_us=(call.end_ns - call.at_ns) / 1e3,
        left_bytes=live[-1] if live else 0,
        allocated_bytes=sum(given),
        allocations=len(given),
        events=len(memory),
        curve=MemoryCurve(
            tuple(at_us[index] for index in kept), tuple(live[i] for i in kept), tuple(where[i] for i in kept)
        ),
        alive=() if peak is None else _alive(memory[: peak + 1], where),
        places=tuple(known.found),
    )


class _Places:
    """Distinct places where a call allocates memory, each with its index."""

    def __init__(self) -> None:
        self.found: dict[MemoryPlace, int] = {}

    def of_all(self, events: list[ProfilerEvent]) -> list[int]:
        """Return the index of the place of each memory event; −1 for a release.

        The events are first read in reverse, since generated code allocates memory before the kernel that uses it.
        """
        next_kernel: MemoryPlace | None = None
        after: list[MemoryPlace | None] = []
        for event in reversed(events):
            next_kernel = _kernel(event.names[-1]) or next_kernel
            after.append(next_kernel)
        position = _Position()
        found = []
        for event, kernel in zip(events, reversed(after), strict=True):
            position.follow(event.names[-1])
            if event.bytes:
                found.append(-1 if event.bytes < 0 else self._index(_place(event.names, kernel, position)))
        return found

    def _index(self, place: MemoryPlace) -> int:
        return self.found.setdefault(place, len(self.found))


class _Position:
    """The current line of the user's file and the current module, from the marks so far."""

    def __init__(self) -> None:
        self.line = 0
        self.module = ""

    def follow(self, name: str) -> None:
        """Update the position if the event is a mark."""
        if name.startswith(LINE):
            self.line = int(name.removeprefix(LINE))
        elif name.startswith(MODULE):
            self.module = name.removeprefix(MODULE)


def _kernel(name: str) -> MemoryPlace | None:
    """Return the kernel of a generated-code mark; None for any other event."""
    if not name.startswith(KERNEL):
        return None
    code, line, kernel = name.removeprefix(KERNEL).split(" ", 2)
    return MemoryPlace(kernel, int(line), int(code))


def _place(names: Names, next_kernel: MemoryPlace | None, position: _Position) -> MemoryPlace:
    """Return the place of a memory event.

    In generated code the place is the kernel that allocates or the next kernel, in eager the outermost op.
    """
    own = next((place for name in reversed(names) if (place := _kernel(name))), None)
    if own is not None:
        return own
    if next_kernel is not None and any(name.startswith(CODE) for name in names):
        return next_kernel
    outer = (name for name in names if not name.startswith((CALL, CODE, *COMPILED)))
    op = next(outer, "")
    if op.startswith(BACKWARD):
        return MemoryPlace(op.removeprefix(BACKWARD))
    return MemoryPlace(op, position.line, module=position.module)


def _alive(memory: list[ProfilerEvent], where: list[int]) -> tuple[AliveMemory, ...]:
    """Return the memory that these events allocate and don't release, by place; the largest first."""
    alive: dict[int, tuple[int, int]] = {}
    for event, place in zip(memory, where, strict=False):
        if event.bytes > 0:
            alive[event.pointer] = (place, event.bytes)
        else:
            alive.pop(event.pointer, None)
    sums: dict[int, list[int]] = {}
    for place, size in alive.values():
        sums.setdefault(place, []).append(size)
    rows = (AliveMemory(place, len(sizes), sum(sizes)) for place, sizes in sums.items())
    return tuple(sorted(rows, key=lambda row: -row.bytes)[:MOST_ALIVE])


def _kept(live: list[int]) -> list[int]:
    """Return the indexes of the points that draw the curve.

    Too many points are split into equal parts; only the first, last, minimum and maximum of each part are drawn.
    """
    if len(live) <= MOST_POINTS:
        return list(range(len(live)))
    parts = MOST_POINTS // 4
    edges = [round(part * len(live) / parts) for part in range(parts + 1)]
    kept: set[int] = set()
    for first, end in pairwise(edges):
        part = range(first, end)
        kept |= {first, end - 1, min(part, key=live.__getitem__), max(part, key=live.__getitem__)}
    return sorted(kept)


@contextmanager
def mark_lines(path: str) -> Iterator[None]:
    """Mark each line of a file when it starts, and the caller's line when a function of the file returns."""
    running: list[int] = []

    def within(frame: FrameType, event: str, _: Any) -> Trace:
        if event == "line":
            running[-1:] = [frame.f_lineno]
            _mark(f"{LINE}{frame.f_lineno}")
        elif event == "return":
            running.pop()
            _mark(f"{LINE}{running[-1] if running else 0}")
        return within

    def called(frame: FrameType, _: str, __: Any) -> Trace | None:
        if frame.f_code.co_filename != path:
            return None
        running.append(frame.f_lineno)
        return within

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def mark_modules(names: Mapping[torch.nn.Module, str]) -> Iterator[None]:
    """Mark each module when its forward starts, and the enclosing module when that forward ends."""
    running: list[str] = []

    def begins(module: torch.nn.Module, _: Any) -> None:
        running.append(names.get(module, running[-1] if running else ""))
        _mark(f"{MODULE}{running[-1]}")

    def ends(*_: Any) -> None:
        running.pop()
        _mark(f"{MODULE}{running[-1] if running else ''}")

    hooks = (register_module_forward_pre_hook(begins), register_module_forward_hook(ends, always_call=True))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _mark(what: str) -> None:
    with record_function(what):
        pass


@contextmanager
def mark_kernels(codes: list[Wrapper]) -> Iterator[None]:
    """Add profiler marks to each output code and to each of its kernel calls.

    A mark contains the code's index in `codes`; a kernel's mark also contains the line and the kernel's name.
    """
    with ExitStack() as stack:
        for index, code in enumerate(codes):
            stack.enter_context(code.tapped(_kernel_mark(index), _code(index)))
        yield


def _kernel_mark(index: int) -> Callable[..., Any]:
    def marked(line: int, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        with record_function(f"{KERNEL}{index} {line} {name}"):
            return function(*args, **kwargs)

    return marked


def _code(index: int) -> Callable[..., Any]:
    def marked(body: Callable[..., Any], *args: Any) -> Any:
        with record_function(f"{CODE}{index}"):
            return body(*args)

    return marked


STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
# Written to `clear_refs`, it resets the peak of the resident memory: proc(5).
RESET_PEAK = "5"
# From malloc.h, and its default: mallopt(3).
M_MMAP_THRESHOLD, FIRST_THRESHOLD_BYTES = -3, 128 * 1024
SIDES: tuple[MemorySide, ...] = get_args(MemorySide)


def side_alone(side: MemorySide, job: CompileJob, path: Path) -> MemoryRecord:
    """Load the file, make all calls of one side, and measure the last; must run in a separate process."""
    give_back_at_once()
    set_threads(job.conditions)
    load_backend(job)
    twin = ModelCopy(path, job, f"compileboard_{side}")
    set_dynamo(job.conditions)
    with lookups(job.conditions):
        call = last_call(job, twin, side == "eager")
        return measured(side, call, twin, job.device, path)


def last_call(job: CompileJob, twin: ModelCopy, eager: bool) -> PreparedCall:
    """Make all calls of a side, and return the last; raises LookupError if the stance refused the last."""
    function = twin.model if eager else compiled_side(job, twin)
    calls = ModelCalls(job, twin, function, eager)
    last, index = None, 0
    while (call := calls.next(index)) is not None:
        outcome = observed(job.conditions, calls.make, index, call, calls.before())
        last, index = call if outcome.left else None, index + 1
    if last is None:
        raise LookupError("the last call was not made")
    return last


def measured(side: MemorySide, call: PreparedCall, twin: ModelCopy, device: str, path: Path) -> MemoryRecord:
    """Repeat a call that was made before, and return the record of its memory."""

    def before() -> None:
        for leaf in call.wanted:
            leaf.grad = None
        synchronize(device)
        let_go()

    codes = [] if side == "eager" else wrappers()

    def marks() -> AbstractContextManager[Any]:
        return _eager_marked(twin, path) if side == "eager" else mark_kernels(codes)

    with call.ready():
        call()
        before()
        on_cpu = torch.device(device).type == "cpu"
        resident = resident_growth(call) if on_cpu else None
        counted = None if on_cpu else _counted(call, before, device)
        events = watched(call, before, marks, device)
    return replace(
        story(events, side),
        device=device,
        path=str(path),
        held_bytes=held_bytes(twin, call.inputs, device),
        codes=tuple(code.path for code in codes),
        resident_bytes=resident,
        counted_bytes=counted,
    )


@contextmanager
def _eager_marked(twin: ModelCopy, path: Path) -> Iterator[None]:
    names = {
        module: f"{prefix}{name}".removesuffix(".")
        for prefix, root in twin.named_modules()
        for name, module in root.named_modules()
    }
    with mark_lines(str(path)), mark_modules(names):
        yield


def held_bytes(twin: ModelCopy, call: Arguments, device: str) -> int:
    """Return the bytes of parameters, buffers and inputs on the device; shared memory counts once."""
    kind = torch.device(device).type
    modules = [tensor for module in twin.modules() for tensor in (*module.parameters(), *module.buffers())]
    inputs = [leaf for leaf in tree_leaves(call) if isinstance(leaf, torch.Tensor)]
    storages = [
        tensor.untyped_storage()
        for tensor in (*modules, *inputs)
        if tensor.device.type == kind and tensor.layout is torch.strided
    ]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def _counted(call: Callable[[], Any], before: Callable[[], None], device: str) -> int | None:
    """Return one call's peak bytes, minus the bytes allocated at its start; None without such statistics."""
    module = getattr(torch, torch.device(device).type)
    if not hasattr(module, "max_memory_allocated"):
        return None
    before()
    module.reset_peak_memory_stats(device)
    start = module.memory_allocated(device)
    result = call()
    synchronize(device)
    peak = int(module.max_memory_allocated(device))
    del result
    return peak - start


def give_back_at_once() -> None:
    """Have the C library return each large block to the system as soon as the block is freed.

    Glibc maps blocks above a threshold separately, and unmaps them when they are freed. It raises the threshold,
    up to 32 MiB, when it frees the first large block, and then keeps smaller freed blocks: resident memory would
    depend on earlier allocations. Setting the threshold turns this growth off.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(M_MMAP_THRESHOLD, FIRST_THRESHOLD_BYTES)


def let_go() -> None:
    """Release unused memory: Python's garbage, and the C library's free memory."""
    gc.collect()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def resident_growth(call: Callable[[], Any]) -> int | None:
    """Make a call, and return the maximum growth of the resident memory in bytes.

    If the system doesn't report it, return None without making the call.
    """
    let_go()
    try:
        CLEAR.write_text(RESET_PEAK)
        before = _status_bytes("VmRSS")
    except (OSError, LookupError):
        return None
    result = call()
    peak = _status_bytes("VmHWM")
    del result
    return max(0, peak - before)


def _status_bytes(name: str) -> int:
    """Return a value of `/proc/self/status` in bytes; the file has units of 1,024 bytes.

    Raises LookupError if there is none.
    """
    for line in STATUS.read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * 1024
    raise LookupError(name)


class MemoryWatch:
    """Measurement of memory at the end of a run.

    On a CPU, a standby process measures. The process is forked here: create the object before the run starts.
    """

    def __init__(self, job: CompileJob, original: Path, path: Path) -> None:
        self._job = job
        self._paths: dict[MemorySide, Path] = {"eager": original, "compiled": path}
        alone = job.memory and not job.target and job.device.partition(":")[0] == "cpu"
        self._stand_by = (
            StandBy(SIDES, MemoryRecord, lambda side: side_alone(side, job, self._paths[side]), failed)
            if alone
            else None
        )

    def emit(self, calls: Pair, twins: tuple[ModelCopy, ModelCopy]) -> None:
        """Measure and record both sides; errors are recorded, not raised."""
        if self._stand_by is not None:
            for record in self._stand_by.results():
                emit(record)
            return
        for side, call, twin in zip(SIDES, calls, twins, strict=True):
            try:
                with silence():
                    record = measured(side, call, twin, self._job.device, self._paths[side])
            except Exception as error:
                record = failed(side, f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS])
            emit(record)


def failed(side: MemorySide, reason: str) -> MemoryRecord:
    """Return the record of a side that could not be measured, with the reason."""
    return MemoryRecord(side=side, reason=reason)
