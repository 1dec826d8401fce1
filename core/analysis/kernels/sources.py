"""Ledger and comparison with facts from the kernels' sources, which stay in the log."""

from __future__ import annotations

from collections.abc import Callable

from core.analysis.kernels.comparison import Side
from core.analysis.kernels.ledger import LedgerRow, ledger
from core.analysis.kernels.pairs import paired
from core.code.cpp import cpp_facts
from core.code.output_code import kernel_code
from core.report import Compilation, Kernel, Payload, Report

# Reader of a payload in the log.
Read = Callable[[Payload], str]


def kernel_ledger(report: Report, compilation: Compilation, read: Read) -> tuple[LedgerRow, ...]:
    """Return the ledger of a compilation, with the facts of its C++ kernels."""
    kernels = [kernel for kernel in compilation.kernels if kernel.language == "cpp"]
    facts = {kernel.id: cpp_facts(kernel_code(kernel, read(kernel.output_code))) for kernel in kernels}
    return ledger(report, compilation, facts)


def opposite(report: Report, compilation: Compilation) -> Compilation | None:
    """Return the matching compilation of another run: the same number, otherwise the first with kernels."""
    same = report.compilation(compilation.id)
    if same is not None and same.kernels:
        return same
    return next((candidate for candidate in report.compilations if candidate.kernels), None)


def counterpart(kernel: Kernel, compilation: Compilation, opposite_report: Report) -> Kernel | None:
    """Return the kernel of another run that computes the same part of the model; None if there is none."""
    opposing = opposite(opposite_report, compilation)
    pairs = paired(compilation.kernels, opposing.kernels) if opposing is not None else ()
    return next((right for left, right in pairs if left is not None and left.id == kernel.id), None)


def side_of(report: Report, compilation: Compilation, read: Read) -> Side:
    """Return a side of a comparison, with the sources of its generated kernels."""
    generated = [kernel for kernel in compilation.kernels if not kernel.extern]
    return Side(report, compilation, {kernel.id: kernel_code(kernel, read(kernel.output_code)) for kernel in generated})
