"""Full comparison of two runs: all differences, and one sentence."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis.comparison.alike import (
    GuardDifference,
    Matched,
    breaks,
    compilations,
    guard_difference,
    matched,
    recompiles,
)
from core.analysis.comparison.figures import Figure, PhasePair, figures, phase_pairs
from core.analysis.comparison.graphs import Change, graph_union
from core.analysis.comparison.options import OptionDifference, option_differences
from core.analysis.comparison.sides import RunSide
from core.analysis.comparison.sources import SourceDifference, source_differences
from core.analysis.comparison.times import TimeComparison, time_comparison
from core.analysis.dynamo.failures import failure_sentence, failures
from core.analysis.kernels import Comparison, compare, side_of
from core.analysis.results import results
from core.analysis.target import side_words
from core.job.options import OPTIONS
from core.report import Compilation, FxGraph, GraphBreak, Recompile, Report, Stage

# What of a job does not change what its eager side does.
OF_THE_COMPILER = frozenset(option.name for option in OPTIONS if not option.eager)


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """A pair of graphs of two matched compilations.

    `left` and `right` are graph ids, empty if one compilation has no such graph; `changes` counts nodes per change.
    """

    stage: Stage
    left: str
    right: str
    changes: dict[Change, int]

    @property
    def same(self) -> bool:
        """True if no node differs."""
        return not {change for change, count in self.changes.items() if count} - {"same"}


@dataclass(frozen=True, slots=True)
class CompilationComparison:
    """A pair of matched compilations by id; a side is empty, and nothing is compared, if a run has no counterpart."""

    left: str
    right: str
    name: str
    guards: GuardDifference | None = None
    graphs: tuple[GraphDifference, ...] = ()
    kernels: Comparison | None = None


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Full comparison of two runs; `left` and `right` describe the runs.

    `sources` is None if a log does not contain the code. `failures` and `results` describe each run in words.
    """

    left: str
    right: str
    options: tuple[OptionDifference, ...]
    sources: tuple[SourceDifference, ...] | None
    figures: tuple[Figure, ...]
    compilations: tuple[CompilationComparison, ...]
    breaks: tuple[Matched[GraphBreak], ...]
    recompiles: tuple[Matched[Recompile], ...]
    phases: tuple[PhasePair, ...]
    times: TimeComparison | None
    failures: tuple[str, str]
    results: tuple[str, str]

    def figure(self, name: str) -> Figure:
        """Return the figure of this name; both values are None if neither run has it."""
        return next((found for found in self.figures if found.name == name), Figure(name, None, None))


def compare_runs(left: RunSide, right: RunSide) -> RunComparison:
    """Compare the right run with the left run."""
    one, other = left.report, right.report
    options, sources = option_differences(one.setting, other.setting), source_differences(left, right)
    return RunComparison(
        side_words(one),
        side_words(other),
        options,
        sources,
        figures(one, other),
        tuple(_compared(left, right, pair) for pair in compilations(one, other)),
        breaks(one, other),
        recompiles(one, other),
        phase_pairs(one, other),
        time_comparison(one, other, same_eager(one, other, options, sources)),
        (_failures(one), _failures(other)),
        (_outcome(one), _outcome(other)),
    )


def same_eager(
    left: Report,
    right: Report,
    options: tuple[OptionDifference, ...],
    sources: tuple[SourceDifference, ...] | None,
) -> bool:
    """Return True if the eager call is the same work in both runs: same code, inputs and machine, if known."""
    known = left.setting.job is not None and right.setting.job is not None and sources is not None
    differing = {item.name for item in options if not item.name.startswith(("options.", "dynamo.", "rival."))}
    return known and not sources and not differing - OF_THE_COMPILER - {"model"}


def graph_pairs(left: Compilation, right: Compilation) -> tuple[Matched[FxGraph], ...]:
    """Return the graphs of two compilations matched by stage; of restarted compilations the last attempt counts."""
    return matched(_last(left), _last(right), lambda graph: (graph.stage, graph.direction))


def _last(compilation: Compilation) -> list[FxGraph]:
    last = max((graph.attempt for graph in compilation.graphs), default=0)
    return [graph for graph in compilation.graphs if graph.attempt == last]


def _compared(left: RunSide, right: RunSide, pair: Matched[Compilation]) -> CompilationComparison:
    one, other = pair.left, pair.right
    if one is None or other is None:
        either = one or other
        return CompilationComparison(
            one.id if one else "", other.id if other else "", either.frame.name if either else ""
        )
    kernels = None
    if one.kernels or other.kernels:
        kernels = compare(side_of(left.report, one, left.text), side_of(right.report, other, right.text))
    return CompilationComparison(
        one.id,
        other.id,
        one.frame.name,
        guard_difference(one.guards, other.guards),
        tuple(_graph_difference(left, right, (one, other), graphs) for graphs in graph_pairs(one, other)),
        kernels,
    )


def _graph_difference(
    left: RunSide, right: RunSide, within: tuple[Compilation, Compilation], pair: Matched[FxGraph]
) -> GraphDifference:
    one, other = pair.left, pair.right
    either = one or other
    assert either is not None
    changes = _changes(left, right, within, one, other)
    return GraphDifference(either.stage, one.id if one else "", other.id if other else "", changes)


def _changes(
    left: RunSide,
    right: RunSide,
    within: tuple[Compilation, Compilation],
    one: FxGraph | None,
    other: FxGraph | None,
) -> dict[Change, int]:
    """Count node changes of two graphs.

    Skips alignment if the texts are equal or a run has no such graph.
    """
    if one is None or other is None:
        return {"only right": _nodes(other)} if one is None and other else {"only left": _nodes(one)}
    if _bare(left.text(one.payload)) == _bare(right.text(other.payload)):
        return {"same": _nodes(one)}
    return graph_union(left.nodes(within[0], one), right.nodes(within[1], other)).changes()


def _nodes(graph: FxGraph | None) -> int:
    return sum(count for op, count in graph.ops.items() if op != "output") if graph else 0


def _bare(text: str) -> list[str]:
    """Return the lines of a graph without comments, since comments contain file names of the run."""
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]


def _failures(report: Report) -> str:
    if report.error is not None:
        return f"failed while {report.error.stage}: {report.error.type}"
    return failure_sentence(failures(report))


def _outcome(report: Report) -> str:
    found = results(report)
    return found.outcome if found is not None else ""
