"""Features of kernels that decide their times: traffic, loops and ops, or the sizes of a product."""

import itertools
import math
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.analysis.kernels.library import ALIGNED_BYTES, BufferTraffic, library_work
from core.analysis.kernels.predicted import KernelWork, Kind, power_of_two
from core.job.targets import Target
from core.report import Kernel, Schedule, SchedulerNode

KINDS: dict[str, Kind] = {"pointwise": "loop", "persistent reduction": "rows", "reduction": "long rows"}
SECTOR = 32  # bytes that memory moves at once
NEAR_BYTES = 128 * 1024  # bytes of a table that each multiprocessor holds
WIDE = 16  # elements of a row from which on atomic adds of neighbours are one access
# Ops that take an element several instructions, and many; and those that draw random numbers.
SLOW = re.compile("exp2?|log2?|r?sqrt|(true_?)?div|reciprocal|sigmoid|softmax|arg(max|min)")
HEAVY = re.compile("erfc?|a?(sin|cos|tan)h?|log1p|expm1|gelu|pow|prepare_softmax_online")
# Ops that read several neighbours of an element, and those that add their gradients.
WINDOW = re.compile("(max|avg)_pool.*|_low_memory_max_pool.*")
WINDOW_BACKWARD, MOST_SPREAD = 3, 16.0
ONLINE = 2  # more functions of an element, of a softmax whose maximum is corrected at each step
# Ops that make a constant or another name, which cost an element nothing.
FREE = frozenset(("full", "scalar_tensor", "clone", "iota", "arange", "zeros_like", "primals"))
DRAWN = re.compile("inductor_rand.*|rand(int|n)?(_like)?|bernoulli|native_dropout")
INDEXED = frozenset(("embedding", "index", "gather", "index_select"))
MIXED = "FusedMixOrderReductions"  # torch's node of a reduction along rows, and of its columns in parts
SCATTERED = "Scatter"  # Inductor's IR of stores by an index
ROW_STEP = 2048  # elements of rows that a step of a reduction reads


def generated_work(
    kind: Kind,
    names: Iterable[str],
    reads: Sequence[BufferTraffic],
    writes: Sequence[BufferTraffic],
    elements: float,
    row: float,
    indirect: bool,
    atomic: bool,
    looped: bool = False,
    serial: float = 1.0,
    passes: int = 0,
) -> KernelWork:
    """Return the work of a generated kernel, from its ops, buffers, iterations and reduced elements.

    A scan is `looped` if its rows are too long for one step; `serial` are the rows that a block reduces one by one.
    Unknown `passes` over long rows are two if a result is as large as the rows.
    """
    ops = set(names) - FREE
    classes = (SLOW, HEAVY, DRAWN, WINDOW)
    slow, heavy, drawn, windows = (sum(each.fullmatch(op) is not None for op in ops) for each in classes)
    written = max((buffer.count for buffer in writes), default=1)
    is_long = kind == "long rows" or (kind == "scan" and looped)
    row = row if kind != "loop" else 1
    work = KernelWork(
        kind=kind,
        read_bytes=sum(buffer.bytes for buffer in reads),
        written_bytes=sum(buffer.bytes for buffer in writes),
        elements=elements,
        row=row,
        passes=(passes or 1 + (written * 2 > elements)) if is_long else 1,
        simple=len(ops) - slow - heavy - drawn - windows,
        slow=slow,
        heavy=heavy + (ONLINE if is_long and "prepare_softmax_online" in ops else 0),
        drawn=min(1, drawn),
        windows=WINDOW_BACKWARD if any("max_pool" in op and "backward" in op for op in ops) else min(1, windows),
        spread=_spread(reads, writes) if kind == "loop" else 0.0,
        apart=kind in ("rows", "long rows") and _apart(reads, writes, elements, row),
        outer=kind in ("rows", "long rows") and serial == 1.0 and _outer(reads, writes, elements, row),
        uneven=kind == "rows" and _uneven(reads, row),
        serial=serial,
        loads=len(reads),
        dependent=kind != "loop" and indirect and any("int" in read.dtype and read.count >= elements for read in reads),
    )
    work = _with_blocks(work) if kind in ("rows", "long rows") else work
    floats = [buffer for buffer in reads if "float" in buffer.dtype]
    if atomic and writes:
        table = max(writes, key=lambda buffer: buffer.count)
        wide = len(table.shape) > 1 and table.shape[-1] >= WIDE
        return replace(work, adds=elements / row, addresses=table.count, wide=wide)
    if indirect and kind != "scan" and floats and INDEXED & ops:
        return _looked_up(work, max(floats, key=lambda buffer: buffer.count), "gather" in ops)
    return work


def _spread(reads: Sequence[BufferTraffic], writes: Sequence[BufferTraffic]) -> float:
    """Return the bytes of reads whose neighbours in memory are not those of the results of the same shape.

    They count once more for each access that moves a sector for less than its bytes.
    """
    result = max(writes, key=lambda buffer: buffer.bytes, default=None)
    if result is None:
        return 0.0
    turned = [read for read in reads if read.shape == result.shape and read.inner != result.inner]
    size = result.shape[result.inner] * result.itemsize if result.inner >= 0 else SECTOR
    return sum(read.bytes for read in turned) * min(MOST_SPREAD, max(1.0, SECTOR / max(1, size)) ** 2)


def _apart(reads: Sequence[BufferTraffic], writes: Sequence[BufferTraffic], elements: float, row: float) -> bool:
    """Return True if a row is neither a run of memory, nor are neighbours in memory neighbouring rows.

    The channels of images are such rows: their elements' places need divisions, and sectors are read in part.
    """
    main = max(reads, key=lambda buffer: buffer.count, default=None)
    if main is None or len(main.shape) < 3 or main.count > elements or not main.count:
        return False
    runs = _runs(main)
    return row not in runs and not any(size in write.shape for write in writes for size in runs[:1])


def _with_blocks(work: KernelWork) -> KernelWork:
    """Return the work of a reduction with its blocks and their steps, as Inductor configures it."""
    results = max(1.0, work.elements / work.row)
    if not work.outer:
        rows = max(1, ROW_STEP // power_of_two(work.row))
        return replace(work, blocks=results / rows, steps=math.ceil(work.row / ROW_STEP) * work.passes)
    near = power_of_two(results)
    if work.kind == "rows":
        columns, length = max(1, min(128, ROW_STEP // power_of_two(work.row))), math.ceil(work.row)
    elif near <= 1024:
        columns, length = max(min(near // 128, 8), 2), 64
    elif near // 4096 <= 8:
        columns, length = 16, 32
    elif work.loads < 4 or work.row <= 128:
        columns = min(256, max(64, near // 4096))
        length = 512 // columns
    else:
        columns, length = 32, 64 if work.row >= 2048 else 32
    return replace(work, blocks=results / columns, steps=math.ceil(work.row / length) * work.passes)


def _runs(main: BufferTraffic) -> list[int]:
    """Return the elements of a buffer's innermost dimension, of the inner two, and so on."""
    order = sorted(range(len(main.shape)), key=lambda dim: main.stride[dim] if main.stride else -dim)
    return list(itertools.accumulate((main.shape[dim] for dim in order if main.shape[dim] > 1), operator.mul))


def _outer(reads: Sequence[BufferTraffic], writes: Sequence[BufferTraffic], elements: float, row: float) -> bool:
    """Return True if neighbours in memory are elements of neighbouring rows."""
    main = max(reads, key=lambda buffer: buffer.count, default=None)
    runs = _runs(main) if main is not None else []
    if not runs or row in runs:
        return False
    results = [write for write in writes if write.count <= elements / row]
    return any(runs[0] in write.shape for write in results) or (not results and runs[0] * row in runs)


def _uneven(reads: Sequence[BufferTraffic], row: float) -> bool:
    """Return True if rows begin at addresses that are not multiples of 16 bytes."""
    main = max(reads, key=lambda buffer: buffer.count, default=None)
    return main is not None and row in _runs(main) and row * main.itemsize % ALIGNED_BYTES != 0


def _looked_up(work: KernelWork, table: BufferTraffic, along: bool) -> KernelWork:
    """Return the work with accesses to rows of a table, or `along` its last dimension to elements."""
    single = along or len(table.shape) < 2
    width = 1 if single else math.prod(table.shape[1:])
    lookups = work.elements / max(1, width)
    whole = table.count * table.itemsize
    held = table.shape[-1] * table.itemsize if along and table.shape else whole
    moved = lookups * max(SECTOR, width * table.itemsize)
    read = work.read_bytes - table.bytes + min(whole, moved)
    again, far = max(0.0, moved - whole), lookups if held > NEAR_BYTES else 0.0
    return replace(work, read_bytes=read, lookups=far, table_bytes=held, again=again)


def kernel_work(
    kernel: Kernel, names: Sequence[str], nodes: Sequence[SchedulerNode], schedule: Schedule | None, precision: str
) -> KernelWork | None:
    """Return the work of a kernel of a report; None for a kind without a model, or with unknown sizes.

    `nodes` are its unfused nodes, `names` its ops, and `precision` is the dtype in which it multiplies.
    """
    if schedule is None or not nodes:
        return None
    reads, writes = _buffers(schedule, nodes)
    if kernel.extern:
        return library_work(kernel, names, reads, writes, precision)
    kind, elements = KINDS.get(kernel.category), max(node.iterations or 0 for node in nodes)
    scans = any("Scan" in op for node in nodes for op in node.ops)
    if kind is None or not elements:
        return None
    counts = {buffer.name: math.prod(_sizes(buffer.shape)) for buffer in schedule.buffers}
    reduced = [node for node in nodes if any("Reduction" in op for op in node.ops)]
    rows = [counts[name] for node in reduced for name, _ in node.writes if counts.get(name)]
    if reduced and not rows and not scans:
        return None
    atomic = any(SCATTERED in node.ops for node in nodes)
    indirect = any(node.at_most for node in nodes)
    mixed = any(node.kernel == kernel.id and node.kind == MIXED for node in schedule.after)
    row = 1.0 if scans else elements / max(1, min(rows, default=1) if mixed else max(rows, default=1))
    serial = max(1.0, elements / max(rows)) if mixed and rows else 1.0
    made: Kind = "scan" if scans else kind
    passes = 1 + _read_again(nodes, reduced, elements)
    return generated_work(
        made, names, reads, writes, elements, row, indirect, atomic, kind == "long rows", serial, passes
    )


def _read_again(nodes: Sequence[SchedulerNode], reduced: Sequence[SchedulerNode], elements: int) -> bool:
    """Return True if whole rows are computed from what a reduction of them makes."""
    late = {name for node in reduced for name, _ in node.writes}
    for node in nodes:
        if any(name in late for name, _ in node.reads):
            if node.iterations == elements:
                return True
            late |= {name for name, _ in node.writes}
    return False


def cold_parts(schedules: Sequence[Schedule], device: Target) -> dict[str, float]:
    """Return kernel → part of its traffic that is not in the cache, the mean of its calls.

    A buffer is in the cache if less than the cache's size was moved since its last access. The inputs' last access was
    in the call before. Results push others out of the cache if a call moves more than it holds.
    """
    parts: dict[str, list[float]] = {}
    for schedule in schedules:
        launched = [node for node in schedule.after if node.kernel]
        moved, total = 0, sum(node.bytes_accessed for node in launched)
        last = {name: -1 for node in launched for name, _ in node.reads}
        for around in (False, True):
            for node in launched:
                cold = sum(size for name, size in node.reads if moved - last[name] > device.l2_cache_bytes)
                cold += sum(size for _, size in node.writes) if total > device.l2_cache_bytes else 0
                if around:
                    parts.setdefault(node.kernel, []).append(min(1.0, cold / max(1, node.bytes_accessed)))
                moved += node.bytes_accessed
                last.update((name, moved) for name, _ in (*node.reads, *node.writes))
    return {kernel: math.fsum(each) / len(each) for kernel, each in parts.items()}


def _sizes(shape: Iterable[str]) -> tuple[int, ...]:
    """Return the sizes of a shape; a symbolic size counts as 0."""
    return tuple(int(size) if size.isdecimal() else 0 for size in shape)


def _buffers(schedule: Schedule, nodes: Sequence[SchedulerNode]) -> tuple[list[BufferTraffic], list[BufferTraffic]]:
    """Return the buffers that one call of the kernel of these nodes reads and writes.

    A call with several results writes one buffer without a layout; its results have nodes that read it.
    """
    layouts = {buffer.name: (buffer.dtype, _sizes(buffer.shape), _sizes(buffer.stride)) for buffer in schedule.buffers}
    names = {node.name for node in nodes}
    fused = next((node for node in schedule.after if names & {node.name, *node.nodes}), nodes[0])
    reads, writes = (
        [BufferTraffic(size, *layouts[name]) for name, size in side if name in layouts]
        for side in (fused.reads, fused.writes)
    )
    if fused.writes and not writes:
        whole = fused.writes[0][0]
        parts = [node for node in schedule.before if node.unpacks and (whole, 0) in node.reads]
        results = [BufferTraffic(0, *layouts[name]) for part in parts for name, _ in part.writes if name in layouts]
        writes = [replace(result, bytes=result.count * result.itemsize) for result in results]
    return reads, writes
