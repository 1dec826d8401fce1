"""Matmuls of a run and the ops fused into them, in words."""

from __future__ import annotations

from collections.abc import Sequence

from core.analysis.kernels import node_op, node_ops
from core.base import words as fmt
from core.report import Kernel

# ATen products, which Inductor leaves to a library unless a template is faster; some add a tensor, such as a bias.
ADDING = ("addmm", "baddbmm")
PRODUCTS = ("mm", "bmm", "_int_mm", "_scaled_mm", "linear", *ADDING)
TEMPLATES = "Templates, such as those of `max-autotune`, can fuse the ops after a matmul."


def epilogue_words(kernels: Sequence[Kernel]) -> str:
    """Return whether a matmul, its bias and another op are one of these kernels."""
    products = [kernel for kernel in kernels if _product(kernel)]
    library = [kernel for kernel in products if kernel.extern]
    fused = sum(not kernel.extern and _has_epilogue(kernel) for kernel in products)
    matmuls = fmt.count(len(products), "matmul")
    if not products:
        return "The kernels of this run have no matmul."
    if fused:
        return f"True for {fmt.number(fused)} of {matmuls} here."
    if len(library) < len(products):
        return f"Not here: of {matmuls}, none is one kernel with a bias and another op. {TEMPLATES}"
    return f"Not here: {_library_words(library)} No other op is fused into such a call. {TEMPLATES}"


def _library_words(library: Sequence[Kernel]) -> str:
    """Return that all matmuls are library calls, and how many of them add a tensor."""
    total, adding = len(library), sum(_product(kernel) in ADDING for kernel in library)
    several = "both matmuls are calls" if total == 2 else f"all {fmt.number(total)} matmuls are calls"
    calls = "the matmul is a call" if total == 1 else several
    if not adding:
        return f"{calls} of a library, without a bias."
    some = f"{fmt.number(adding)} of them {fmt.agree(adding, 'adds', 'add')}"
    which = some if adding < total else fmt.agree(total, "it adds", "each adds")
    return f"{calls} of a library; {which} a tensor, such as a bias, within the call."


def _product(kernel: Kernel) -> str:
    """Return the ATen product that a kernel computes; empty for other kernels."""
    names = [node_op(origin) for origin in kernel.origins]
    if kernel.extern:
        names += kernel.name.removesuffix(".default").split(".")[-1:]
    return next((name for name in names if name in PRODUCTS), "")


def _has_epilogue(kernel: Kernel) -> bool:
    """Return True if a kernel computes a product, an added tensor and another op."""
    others = [op for op in node_ops(kernel) if op not in PRODUCTS]
    return len(others) > (_product(kernel) not in ADDING)
