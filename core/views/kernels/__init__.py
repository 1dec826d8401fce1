"""Kernels of a compilation, and one kernel with its tools."""

from core.analysis.kernels import LedgerRow
from core.views.kernels.kernel import KernelTool, KernelView
from core.views.kernels.ledger import KernelsView
from core.views.kernels.results import KernelResult

__all__ = ["KernelResult", "KernelTool", "KernelView", "KernelsView", "LedgerRow"]
