"""Features of library calls that decide their times: products, convolutions, attention, sorts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.analysis.kernels.predicted import KernelWork, MatrixSizes
from core.ops.costs import op_class
from core.report import Kernel

ALIGNED_BYTES = 16  # of a row, for the fast kernels of libraries
ATTENTION_BACKWARD = 2.5  # FLOPs of a backward over its forward, as torch counts them
# Tensors of the queries' size that attention reads, and the width of a head if no buffer shows it.
ATTENTION_TENSORS, ATTENTION_BACKWARD_TENSORS, HEAD = 3, 5, 64
HALVES = ("bfloat16", "float16")
SORTS = ("sort", "topk")  # the library's, which read one tensor


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


def library_work(
    kernel: Kernel,
    names: Sequence[str],
    reads: Sequence[BufferTraffic],
    writes: Sequence[BufferTraffic],
    precision: str,
) -> KernelWork | None:
    """Return the work of a library call; None for a kind without a model."""
    kinds = {op_class(name) for name in names}
    sorted_by = next((name for name in SORTS if kernel.name.startswith(f"torch.ops.aten.{name}.")), "")
    if sorted_by and reads and reads[0].count:
        last = reads[0].shape[-1] if reads[0].shape else 1
        return sort_work(sorted_by, reads[0].count // last, last, reads[0].itemsize)
    flops = _flops(kernel, names, reads, writes)
    if not flops or not kinds & {"matmul", "attention"}:
        return None
    convolved = any("conv" in name for name in names)
    make = _attention if "attention" in kinds else _convolution if convolved else _product
    work = make(flops, writes, reads, any("backward" in name for name in names))
    read = next((buffer.dtype for buffer in reads if "float" in buffer.dtype), "")
    # An op that writes several tensors has no dtype of its own, and counts as TF32.
    dtype = precision if precision and read not in HALVES else read
    half = "half" if dtype in HALVES else dtype
    moved = sum(buffer.bytes for buffer in reads), sum(buffer.bytes for buffer in writes)
    biased = work is not None and work.kind == "product" and "addmm" in kernel.name
    return work and replace(work, read_bytes=moved[0], written_bytes=moved[1], precision=half, biased=biased)


def _flops(
    kernel: Kernel, names: Sequence[str], reads: Sequence[BufferTraffic], writes: Sequence[BufferTraffic]
) -> float:
    """Return the FLOPs of a call; torch counts none for some convolutions."""
    if kernel.flops or not any(name.endswith("convolution") for name in names):
        return (kernel.flops or 0) / max(1, len(kernel.calls))
    weights = [buffer.count // buffer.shape[0] for buffer in reads if len(buffer.shape) > 2 and buffer.count]
    return 2.0 * max((buffer.count for buffer in writes), default=0) * min(weights, default=0)


def sort_work(op: str, rows: int, columns: int, itemsize: int) -> KernelWork:
    """Return the work of a library's `sort` or `topk` of rows."""
    size = rows * columns
    return KernelWork("topk" if op == "topk" else "sort", size * itemsize, 0, elements=size, row=columns)


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
    # Images have the batch in common. As many weights have their own length; they are smaller.
    firsts = [buffer.shape[0] for buffer in images]
    batch = max(images, key=lambda buffer: (firsts.count(buffer.shape[0]), buffer.count)).shape[0]
    weights = [buffer for buffer in images if buffer.shape[0] != batch]
    weight = min(weights or images, key=lambda buffer: buffer.count)
    others = [buffer for buffer in images if buffer.shape != weight.shape]
    if not others:
        return None
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
        grouped=grouped,
        taps=taps,
        weights_only=backward and flops < 3 * shape.m * shape.n * shape.k,
    )


def _attention(
    flops: float, writes: Sequence[BufferTraffic], reads: Sequence[BufferTraffic], backward: bool
) -> KernelWork | None:
    """Return the work of attention by its results' shapes; without them it has as many keys as queries."""
    results = [buffer for buffer in writes if len(buffer.shape) == 4 and buffer.count]
    if results:
        *batch, queries, width = results[0].shape
        keys = flops / (ATTENTION_BACKWARD if backward else 1) / (4 * results[0].count)
        shape = MatrixSizes(math.prod(batch), queries, max(1, round(keys)), width)
        return KernelWork("attention", 0, 0, product=shape, backward=backward)
    tensors = ATTENTION_BACKWARD_TENSORS if backward else ATTENTION_TENSORS
    width = next((buffer.shape[-1] for buffer in reads if len(buffer.shape) == 4 and buffer.count), HEAD)
    elements = sum(buffer.bytes for buffer in reads) / (tensors * reads[0].itemsize) if reads else 0
    if not elements:
        return None
    length = max(1, round(flops / (ATTENTION_BACKWARD if backward else 1) / (4 * elements)))
    heads = max(1, round(elements / (width * length)))
    return KernelWork("attention", 0, 0, product=MatrixSizes(heads, length, length, width), backward=backward)
