"""Features of kernels that decide their times: traffic, loops and ops, or the sizes of a product."""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.analysis.kernels.predicted import KernelWork, Kind, MatrixSizes
from core.job.targets import Target
from core.ops.costs import op_class
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
# Ops that make a constant or another name, which cost an element nothing.
FREE = frozenset(("full", "scalar_tensor", "clone", "iota", "arange", "zeros_like", "primals"))
DRAWN = re.compile("inductor_rand.*|rand(int|n)?(_like)?|bernoulli|native_dropout")
INDEXED = frozenset(("embedding", "index", "gather", "index_select"))
SCATTERED = "Scatter"  # Inductor's IR of stores by an index
ALIGNED_BYTES = 16  # of a row, for the fast kernels of libraries
ATTENTION_BACKWARD = 2.5  # FLOPs of a backward over its forward, as torch counts them
# Tensors of the queries' size that attention reads, and the width of a head if no buffer shows it.
ATTENTION_TENSORS, ATTENTION_BACKWARD_TENSORS, HEAD = 3, 5, 64


@dataclass(frozen=True, slots=True)
class BufferTraffic:
    """A buffer that a kernel reads or writes: bytes that it moves, torch's dtype, and layout."""

    bytes: float
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Elements of the buffer."""
        return math.prod(self.shape)

    @property
    def inner(self) -> int:
        """The dimension whose elements are neighbours in memory; −1 if it has none."""
        dense = [dim for dim, size in enumerate(self.shape) if size > 1 and self.stride[dim : dim + 1] == (1,)]
        return dense[0] if dense else -1

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return max(1, int("".join(filter(str.isdigit, self.dtype)) or 8) // 8)


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
) -> KernelWork:
    """Return the work of a generated kernel, from its ops, buffers, iterations and reduced elements.

    A scan is `looped` if its rows are too long for one step.
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
        passes=2 if is_long and written * 2 > elements else 1,
        simple=len(ops) - slow - heavy - drawn - windows,
        slow=slow,
        heavy=heavy,
        drawn=min(1, drawn),
        windows=WINDOW_BACKWARD if any("backward" in op for op in ops) and windows else min(1, windows),
        spread=_spread(reads, writes) if kind == "loop" else 0.0,
        apart=kind in ("rows", "long rows") and _apart(reads, writes, elements, row),
        dependent=kind != "loop" and indirect and any("int" in read.dtype and read.count >= elements for read in reads),
    )
    floats = [buffer for buffer in reads if "float" in buffer.dtype]
    if atomic and writes:
        table = max(writes, key=lambda buffer: buffer.count)
        wide = len(table.shape) > 1 and table.shape[-1] >= WIDE
        half = "half" if table.itemsize == 2 else ""
        return replace(work, adds=elements / row, addresses=table.count, wide=wide, precision=half)
    if indirect and kind == "loop" and floats and INDEXED & ops:
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
    order = sorted(range(len(main.shape)), key=lambda dim: main.stride[dim] if main.stride else -dim)
    runs = list(itertools.accumulate((main.shape[dim] for dim in order), operator.mul))
    return row not in runs and not any(size in write.shape for write in writes for size in runs[:1])


def _looked_up(work: KernelWork, table: BufferTraffic, along: bool) -> KernelWork:
    """Return the work with accesses to rows of a table, or `along` its last dimension to elements."""
    single = along or len(table.shape) < 2
    width = 1 if single else math.prod(table.shape[1:])
    lookups = work.elements / max(1, width)
    whole = table.count * table.itemsize
    held = table.shape[-1] * table.itemsize if along and table.shape else whole
    moved = min(whole, lookups * max(SECTOR, width * table.itemsize))
    read = work.read_bytes - table.bytes + moved
    return replace(work, read_bytes=read, lookups=lookups if held > NEAR_BYTES else 0.0, table_bytes=held)


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
        return _library_work(kernel, names, reads, writes, precision)
    kind, elements = KINDS.get(kernel.category), max(node.iterations or 0 for node in nodes)
    scans = any("Scan" in op for node in nodes for op in node.ops)
    if kind is None or not elements:
        return None
    counts = {buffer.name: math.prod(_sizes(buffer.shape)) for buffer in schedule.buffers}
    reduced = [node for node in nodes if any("Reduction" in op for op in node.ops)]
    rows = [counts[name] for node in reduced for name, _ in node.writes if counts.get(name)]
    atomic = any(SCATTERED in node.ops for node in nodes)
    indirect = any(node.at_most for node in nodes)
    row = 1.0 if scans else elements / max([1, *rows])
    looped = kind == "long rows"
    return generated_work("scan" if scans else kind, names, reads, writes, elements, row, indirect, atomic, looped)


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
    """Return the buffers that one call of the kernel of these nodes reads and writes."""
    layouts = {buffer.name: (buffer.dtype, _sizes(buffer.shape), _sizes(buffer.stride)) for buffer in schedule.buffers}
    names = {node.name for node in nodes}
    fused = next((node for node in schedule.after if names & {node.name, *node.nodes}), nodes[0])
    reads, writes = (
        [BufferTraffic(size, *layouts[name]) for name, size in side if name in layouts]
        for side in (fused.reads, fused.writes)
    )
    return reads, writes


def _library_work(
    kernel: Kernel,
    names: Sequence[str],
    reads: Sequence[BufferTraffic],
    writes: Sequence[BufferTraffic],
    precision: str,
) -> KernelWork | None:
    kinds = {op_class(name) for name in names}
    if not kernel.flops or not kinds & {"matmul", "attention"}:
        return None
    flops = kernel.flops / max(1, len(kernel.calls))
    convolved = any("conv" in name for name in names)
    make = _attention if "attention" in kinds else _convolution if convolved else _product
    work = make(flops, writes, reads, any("backward" in name for name in names))
    dtype = precision or next((buffer.dtype for buffer in reads if "float" in buffer.dtype), "")
    half = "half" if dtype in ("bfloat16", "float16") else dtype
    moved = sum(buffer.bytes for buffer in reads), sum(buffer.bytes for buffer in writes)
    return work and replace(work, read_bytes=moved[0], written_bytes=moved[1], precision=half)


def _product(
    flops: float, writes: Sequence[BufferTraffic], reads: Sequence[BufferTraffic], backward: bool
) -> KernelWork | None:
    """Return the work of a matrix product, whose contraction follows from its FLOPs."""
    results = [buffer for buffer in writes if len(buffer.shape) > 1 and buffer.count]
    if not results:
        return None
    *batch, m, n = results[0].shape
    shape = MatrixSizes(math.prod(batch), m, n, max(1, round(flops / (2 * results[0].count))))
    aligned = all(size * results[0].itemsize % ALIGNED_BYTES == 0 for size in (shape.n, shape.k))
    return KernelWork("product", 0, 0, product=replace(shape, aligned=aligned), turned=_is_turned(shape, reads))


def _is_turned(shape: MatrixSizes, reads: Sequence[BufferTraffic]) -> bool:
    """Return True if a factor is not stored along the contraction, as far as its buffer's sizes show."""
    factors = [read.shape for read in reads if len(read.shape) > 1]
    left = any(sizes[-1] == shape.m != shape.k and math.prod(sizes[:-1]) == shape.k for sizes in factors)
    right = any(sizes[-1] == shape.n != shape.k and math.prod(sizes[:-1]) == shape.k for sizes in factors)
    return left or right


def _convolution(
    flops: float, writes: Sequence[BufferTraffic], reads: Sequence[BufferTraffic], backward: bool
) -> KernelWork | None:
    """Return the work of a convolution: places of the images, channels of the result, elements of a place."""
    images = [buffer for buffer in (*writes, *reads) if len(buffer.shape) > 2 and buffer.count]
    if len(images) < 2:
        return None
    weight = min(images, key=lambda buffer: buffer.count)
    others = [buffer for buffer in images if buffer is not weight]
    image = next((buffer for buffer in others if buffer.shape[1] == weight.shape[0]), others[0])
    places, itemsize = image.count // image.shape[1], image.itemsize
    taps = math.prod(weight.shape[2:])
    shape = MatrixSizes(1, places, image.shape[1], max(1, weight.count // weight.shape[0]))
    whole = math.prod(image.shape[2:]) * itemsize % ALIGNED_BYTES == 0
    grouped = all(buffer.shape[1] > weight.shape[1] for buffer in others)
    return KernelWork(
        "convolution",
        0,
        0,
        product=replace(shape, aligned=weight.shape[1] * itemsize % ALIGNED_BYTES == 0),
        backward=backward,
        turned=image.stride[1:2] != (1,) and (taps > 1 or not whole),
        grouped=grouped and weight.shape[1] == 1,
        taps=taps,
        weights_only=backward and flops < 3 * shape.m * shape.n * shape.k,
    )


def _attention(
    flops: float, writes: Sequence[BufferTraffic], reads: Sequence[BufferTraffic], backward: bool
) -> KernelWork | None:
    """Return the work of attention with as many keys as queries: the log has no sizes of views."""
    tensors = ATTENTION_BACKWARD_TENSORS if backward else ATTENTION_TENSORS
    width = next((buffer.shape[-1] for buffer in reads if len(buffer.shape) == 4 and buffer.count), HEAD)
    elements = sum(buffer.bytes for buffer in reads) / (tensors * reads[0].itemsize) if reads else 0
    if not elements:
        return None
    length = max(1, round(flops / (ATTENTION_BACKWARD if backward else 1) / (4 * elements)))
    batch = max(1, round(elements / (width * length)))
    return KernelWork("attention", 0, 0, product=MatrixSizes(batch, length, length, width), backward=backward)
