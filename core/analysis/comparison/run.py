"""Full comparison of two runs: all differences, and one sentence."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis.comparison.figures import Figure, PhasePair, figures, phase_pairs
from core.analysis.comparison.graphs import Change, graph_union
from core.analysis.comparison.matching import (
    GuardDifference,
    MatchedPair,
    breaks,
    compilations,
    guard_difference,
    matched,
    recompiles,
)
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

# Options of a job that don't change its eager call.
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
    breaks: tuple[MatchedPair[GraphBreak], ...]
    recompiles: tuple[MatchedPair[Recompile], ...]
    phases: tuple[PhasePair, ...]
    times: TimeComparison | None
    failures: tuple[str, str]
    results: tuple[str, str]

    def figure(self, name: str) -> Figure:
        """Return the figure of this name; both values are None if neither run has it."""
        return next((figure for figure in self.figures if figure.name == name), Figure(name, None, None))


def compare_runs(left: RunSide, right: RunSide) -> RunComparison:
    """Compare the right run with the left run."""
    left_report, right_report = left.report, right.report
    options, sources = option_differences(left_report.setting, right_report.setting), source_differences(left, right)
    return RunComparison(
        side_words(left_report),
        side_words(right_report),
        options,
        sources,
        figures(left_report, right_report),
        tuple(_compilation_comparison(left, right, pair) for pair in compilations(left_report, right_report)),
        breaks(left_report, right_report),
        recompiles(left_report, right_report),
        phase_pairs(left_report, right_report),
        time_comparison(left_report, right_report, same_eager(left_report, right_report, options, sources)),
        (_failure_words(left_report), _failure_words(right_report)),
        (_outcome(left_report), _outcome(right_report)),
    )


def same_eager(
    left: Report,
    right: Report,
    options: tuple[OptionDifference, ...],
    sources: tuple[SourceDifference, ...] | None,
) -> bool:
    """Return True if the eager call is the same work in both runs: same code, inputs and machine, if known."""
    comparable = left.setting.job is not None and right.setting.job is not None and sources is not None
    differing = {
        difference.name for difference in options if not difference.name.startswith(("options.", "dynamo.", "rival."))
    }
    return comparable and not sources and not differing - OF_THE_COMPILER - {"model"}


def graph_pairs(left: Compilation, right: Compilation) -> tuple[MatchedPair[FxGraph], ...]:
    """Return the graphs of two compilations matched by stage; of restarted compilations the last attempt counts."""
    return matched(_last_attempt(left), _last_attempt(right), lambda graph: (graph.stage, graph.direction))


def _last_attempt(compilation: Compilation) -> list[FxGraph]:
    last = max((graph.attempt for graph in compilation.graphs), default=0)
    return [graph for graph in compilation.graphs if graph.attempt == last]


def _compilation_comparison(left: RunSide, right: RunSide, pair: MatchedPair[Compilation]) -> CompilationComparison:
    left_compilation, right_compilation = pair.left, pair.right
    if left_compilation is None or right_compilation is None:
        either = left_compilation or right_compilation
        return CompilationComparison(
            left_compilation.id if left_compilation else "",
            right_compilation.id if right_compilation else "",
            either.frame.name if either else "",
        )
    kernels = None
    if left_compilation.kernels or right_compilation.kernels:
        kernels = compare(
            side_of(left.report, left_compilation, left.text), side_of(right.report, right_compilation, right.text)
        )
    return CompilationComparison(
        left_compilation.id,
        right_compilation.id,
        left_compilation.frame.name,
        guard_difference(left_compilation.guards, right_compilation.guards),
        tuple(
            _graph_difference(left, right, (left_compilation, right_compilation), graphs)
            for graphs in graph_pairs(left_compilation, right_compilation)
        ),
        kernels,
    )


def _graph_difference(
    left: RunSide, right: RunSide, within: tuple[Compilation, Compilation], pair: MatchedPair[FxGraph]
) -> GraphDifference:
    left_graph, right_graph = pair.left, pair.right
    either = left_graph or right_graph
    assert either is not None
    changes = _changes(left, right, within, left_graph, right_graph)
    return GraphDifference(
        either.stage, left_graph.id if left_graph else "", right_graph.id if right_graph else "", changes
    )


def _changes(
    left: RunSide,
    right: RunSide,
    within: tuple[Compilation, Compilation],
    left_graph: FxGraph | None,
    right_graph: FxGraph | None,
) -> dict[Change, int]:
    """Count node changes of two graphs.

    Skips alignment if the texts are equal or a run has no such graph.
    """
    if left_graph is None or right_graph is None:
        return (
            {"only right": _node_count(right_graph)}
            if left_graph is None and right_graph
            else {"only left": _node_count(left_graph)}
        )
    if _without_comments(left.text(left_graph.payload)) == _without_comments(right.text(right_graph.payload)):
        return {"same": _node_count(left_graph)}
    return graph_union(left.nodes(within[0], left_graph), right.nodes(within[1], right_graph)).changes()


def _node_count(graph: FxGraph | None) -> int:
    return sum(count for op, count in graph.ops.items() if op != "output") if graph else 0


def _without_comments(text: str) -> list[str]:
    """Return the lines of a graph without comments, since comments contain file names of the run."""
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]


def _failure_words(report: Report) -> str:
    if report.error is not None:
        return f"failed while {report.error.stage}: {report.error.type}"
    return failure_sentence(failures(report))


def _outcome(report: Report) -> str:
    result = results(report)
    return result.outcome if result is not None else ""
