"""Kernels of a compilation, and one kernel with its tools."""

from core.analysis.kernels.ledger import LedgerRow
from core.views.kernels.kernel import NOT_GENERATED, PANEL, KernelTool, KernelView, most_nodes, one_kernel
from core.views.kernels.ledger import KernelsView
