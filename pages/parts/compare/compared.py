"""Comparisons of two runs and of their kernels, cached for all sessions."""

from __future__ import annotations

from core.views.compare import CompareView
from core.views.kernel_pairs import KernelPairsView
from pages.session.cache import cached
from pages.session.view import RunView


def compare_view(left: RunView, right: RunView) -> CompareView:
    """Return all differences of two runs."""
    return _compared(_ids(left, right), left, right)


@cached("Comparing")
def _compared(ids: tuple[str, ...], _left: RunView, _right: RunView) -> CompareView:
    return CompareView(_left.side, _right.side)


def kernel_pairs_view(left: RunView, left_id: str, right: RunView, right_id: str = "") -> KernelPairsView | None:
    """Return the kernels of two compilations compared; None if the right run has none to compare with."""
    return _kernels((*_ids(left, right), left_id, right_id), left, right)


@cached("Comparing")
def _kernels(ids: tuple[str, ...], _left: RunView, _right: RunView) -> KernelPairsView | None:
    return KernelPairsView.of(_left.side, ids[-2], _right.side, ids[-1])


def _ids(left: RunView, right: RunView) -> tuple[str, ...]:
    return left.run.id, str(left.report.log_bytes), right.run.id, str(right.report.log_bytes)
