"""Two runs, compared once for all sessions; and which of their compilations belong together."""

from __future__ import annotations

from core.analysis.comparison import CompilationComparison, RunComparison, RunSide, compare_runs
from core.report import Compilation, FxGraph, FxNode
from pages.session.cache import cached
from pages.session.view import RunView, View


def compared_runs(left: RunView, right: RunView) -> RunComparison:
    """Everything that differs between two runs."""
    ids = (left.run.id, str(left.report.log_bytes), right.run.id, str(right.report.log_bytes))
    return _compared(ids, left, right)


@cached("Comparing")
def _compared(ids: tuple[str, ...], _left: RunView, _right: RunView) -> RunComparison:
    return compare_runs(_side(_left), _side(_right))


def _side(view: RunView) -> RunSide:
    def nodes(compilation: Compilation, graph: FxGraph) -> tuple[FxNode, ...]:
        return view.of(compilation).nodes(graph)

    return RunSide(view.report, view.text, nodes)


def pair_of(found: RunComparison, compile_id: str) -> CompilationComparison | None:
    """A compilation of the left run with that of the right one; None for one that is not there."""
    return next((pair for pair in found.compilations if pair.left == compile_id), None)


def counterpart_view(right: RunView, pair: CompilationComparison) -> View | None:
    """The right run's side of a pair; None where it has none."""
    compilation = right.report.compilation(pair.right)
    return right.of(compilation) if compilation is not None else None
