"""Comparisons of two runs, cached for all sessions, and the pairing of their compilations."""

from __future__ import annotations

from core.analysis.comparison import CompilationComparison, RunComparison, RunSide, compare_runs
from core.report import Compilation, FxGraph, FxNode
from pages.session.cache import cached
from pages.session.view import RunView, View


def compared_runs(left: RunView, right: RunView) -> RunComparison:
    """Return all differences of two runs."""
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
    """Return a compilation of the left run with its counterpart in the right one.

    Without a counterpart, return the pair with the most nodes in graphs of the same stage; None if there are no pairs.
    """
    pairs = [pair for pair in found.compilations if pair.left and pair.right]
    shown = next((pair for pair in pairs if pair.left == compile_id), None)
    return shown or max(pairs, key=_nodes, default=None)


def _nodes(pair: CompilationComparison) -> int:
    return sum(sum(graph.changes.values()) for graph in pair.graphs if graph.left and graph.right)


def side_of_pair(run: RunView, compile_id: str) -> View | None:
    """Return one run's side of a pair; None if it has no such compilation."""
    compilation = run.report.compilation(compile_id)
    return run.of(compilation) if compilation is not None else None
