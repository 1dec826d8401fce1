"""Memory of both sides of a run: each makes its calls, then repeats the last one under the profiler.

The growth of the process's resident memory is measured on request, as Linux counts it; on a CPU each side then has a
standby process.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import torch
from torch.utils._pytree import tree_leaves

from core.job import CompileJob
from core.report import MemorySide
from core.report.records.compilation import MemoryRecord
from core.worker.backends.selection import compiled_side, load_backend
from core.worker.calls import ModelCalls, Pair, PreparedCall, observed
from core.worker.conditions import lookups, set_dynamo, set_threads
from core.worker.load import Arguments, ModelCopy
from core.worker.measuring.instruments import synchronize, wrappers
from core.worker.memory.allocator import CallMemory, mark_kernels, mark_lines, mark_modules, watched
from core.worker.record import emit, silence
from core.worker.standby import MAX_REASON_CHARS, StandBy

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
    """Make all calls and return the last; raises LookupError if the last one was not made."""
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
    """Return the memory of a call that was made before."""

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
        found = watched(call, before, marks, device)
    return MemoryRecord(
        side=side,
        device=device,
        path=str(path),
        held_bytes=held_bytes(twin, call.inputs, device),
        codes=tuple(code.path for code in codes),
        resident_bytes=resident,
        counted_bytes=counted,
        **{field.name: getattr(found, field.name) for field in fields(CallMemory)},
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
    """Return the peak of one call from the device's own statistics; None if it has none."""
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
    """Have the C library put each large block in a separate map, which is unmapped when the block is freed.

    Glibc raises its threshold for that when it frees the first large block, up to 32 MiB, and then keeps smaller freed
    blocks: resident memory would depend on earlier allocations. Setting the threshold turns that off.
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
    """Make a call.

    Return the maximum growth of the resident memory in bytes, None if the system doesn't report it.
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
    """Return a line of the status in bytes (it is in units of 1,024 bytes).

    Raises LookupError if there is none.
    """
    for line in STATUS.read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * 1024
    raise LookupError(name)


class MemoryWatch:
    """Measures memory at the end of a run; on a CPU in a standby process, so it must be created first."""

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
