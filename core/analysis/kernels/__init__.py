"""Kernel analyses: traffic, times and roofline, for one run and compared with another."""

from core.analysis.kernels.comparison import ASPECTS, Comparison, KernelPair, KernelSide, Side, compare
from core.analysis.kernels.ledger import LedgerRow, ledger
from core.analysis.kernels.ledger_sum import CallPart, LedgerSum, summary
from core.analysis.kernels.names import KernelNames, kernel_kind, kernel_names
from core.analysis.kernels.reliable import (
    kernel_seconds,
    kernels_disturbed,
    measured_seconds,
    times_unreliable,
    uneven_repeats,
)
from core.analysis.kernels.roofline import TF32, allowed_s, ceilings, product_dtype, ridge
from core.analysis.kernels.sources import counterpart, kernel_ledger, opposite, side_of

__all__ = [
    "ASPECTS",
    "TF32",
    "CallPart",
    "Comparison",
    "KernelNames",
    "KernelPair",
    "KernelSide",
    "LedgerRow",
    "LedgerSum",
    "Side",
    "allowed_s",
    "ceilings",
    "compare",
    "counterpart",
    "kernel_kind",
    "kernel_ledger",
    "kernel_names",
    "kernel_seconds",
    "kernels_disturbed",
    "ledger",
    "measured_seconds",
    "opposite",
    "product_dtype",
    "ridge",
    "side_of",
    "summary",
    "times_unreliable",
    "uneven_repeats",
]
